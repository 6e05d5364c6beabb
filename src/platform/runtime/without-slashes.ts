/** An address to which a path is put: its own ends in none. */
export const withoutSlashes = (url: string): string => {
  let base = url
  while (base.endsWith('/')) base = base.slice(0, -1)
  return base
}
