/** Puts something into a map that holds so much at most: the oldest leaves for what is new. */
export const putBounded = <Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  max: number,
): void => {
  const [oldest] = map.keys()
  if (oldest !== undefined && map.size >= max && !map.has(key)) map.delete(oldest)
  map.set(key, value)
}
