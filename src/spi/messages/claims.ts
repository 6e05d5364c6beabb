import { type NewMessage, ordersOf } from './domain.ts'

/** The natural keys of a message. Each direction has its own: our answer may cite the same id. */
export const keysOf = (
  message: NewMessage,
): readonly { readonly kind: string; readonly key: string }[] => {
  const { direction, bizMsgIdr, resourceId } = message
  return [
    ...(bizMsgIdr === undefined ? [] : [{ kind: `${direction}:BizMsgIdr`, key: bizMsgIdr }]),
    ...(resourceId === undefined ? [] : [{ kind: `${direction}:ResourceId`, key: resourceId }]),
  ]
}

/** The natural keys of a message, and what it orders. */
export const claimsOf = (message: NewMessage): ReturnType<typeof keysOf> => {
  const { kind, ids } = ordersOf(message) ?? { kind: '', ids: [] }
  return [...keysOf(message), ...ids.map((key) => ({ kind, key }))]
}

const claimNames = (message: NewMessage): readonly string[] =>
  claimsOf(message).map(({ kind, key }) => `${kind} ${key}`)

/** Returns the messages without those that share a key or an order with an earlier one. */
export const distinct = (messages: readonly NewMessage[]): readonly NewMessage[] => {
  const seen = new Set<string>()
  return messages.filter((message) => {
    const keys = claimNames(message)
    if (keys.some((key) => seen.has(key))) return false
    for (const key of keys) seen.add(key)
    return true
  })
}

/** Messages left out because of one that was itself not stored, so that some of their keys are free. */
export const behind = (
  left: readonly NewMessage[],
  wanted: readonly NewMessage[],
  tried: readonly NewMessage[],
): NewMessage[] => {
  const keys = new Set(left.flatMap(claimNames))
  const before = new Set(tried)
  return wanted.filter((one) => !before.has(one) && claimNames(one).some((key) => keys.has(key)))
}
