/** The reason of a failure, for a person. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  // Refused connections come as an AggregateError whose message is empty.
  return error.message || ('code' in error ? String(error.code) : error.name)
}
