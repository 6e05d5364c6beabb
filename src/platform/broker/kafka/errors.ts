/**
 * Returns an error's text in one line, without its properties: the library's errors carry whole answers of the broker,
 * and so messages.
 */
export const plainError = (error: unknown): Error =>
  new Error([...new Set(sayings(error))].join(' '))

const sayings = (error: unknown): readonly string[] => {
  if (!(error instanceof Error)) return [String(error)]
  const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : []
  const said = 'apiId' in error ? `${String(error.apiId)}: ${error.message}` : error.message
  return [
    said,
    ...inner.flatMap(sayings),
    ...(error.cause === undefined ? [] : sayings(error.cause)),
  ]
}
