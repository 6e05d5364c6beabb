import table from './errors.tsv' with { type: 'text' }

/** By code; a remark begins with `#`. */
const texts = new Map(
  table
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) => {
      const [code = '', title = '', meaning = '', remedy = ''] = line.split('\t')
      return [code, { title, meaning, remedy }]
    }),
)

/** What an error says of itself in Portuguese. @throws Error for a code without a line in the table */
export const portugueseOfError = (code: string) => {
  const found = texts.get(code)
  if (found === undefined) throw new Error(`no line of errors.tsv tells of ${code} in Portuguese`)
  return found
}
