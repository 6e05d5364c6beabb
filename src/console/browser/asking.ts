/** What a list is narrowed by, or its API asked for; an empty text is nothing. */
export type Asked = Readonly<Record<string, string | undefined>>

/** The path with what is asked for behind it. */
export const asking = <Path extends string>(
  path: Path,
  asked: Asked,
): Path | `${Path}?${string}` => {
  const given = Object.entries(asked).filter((one): one is [string, string] => !!one[1])
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
