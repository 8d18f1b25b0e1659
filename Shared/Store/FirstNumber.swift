/// Where the numbers that a store gives out to others go on at least when it is opened.
///
/// Others remember the highest number that they have seen. A store that is new, or a copy of former days, must not begin
/// below that, or what it says is taken for something old. A former life gave out fewer than 2^20 a second, and so none
/// from here on. The numbers stay below 2^53, which every reader of JSON takes for what they are, until the year 2242.
///
/// - Parameter seconds: now, in seconds since 1970.
/// - Returns: the number that the next one is to be above.
public func numbersGoOn(openedAtSeconds seconds: Int64) -> Int64 { max(0, min(seconds, 1 << 33)) << 20 }
