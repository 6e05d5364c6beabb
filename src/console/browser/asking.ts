/** The query parameters of a list; an empty text counts as absent. */
export type Asked = Readonly<Record<string, string | undefined>>

/** The path with its query. */
export const asking = <Path extends string>(
  path: Path,
  asked: Asked,
): Path | `${Path}?${string}` => {
  const given = Object.entries(asked).filter((one): one is [string, string] => !!one[1])
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
