import type { ExplainedField, Explanation } from '#src/platform/lifecycle/index.ts'

/** The explanation as an indented tree. */
export const renderTree = ({ title, fields, picture }: Explanation): string =>
  `${[title, ...renderFields(fields, ''), ...(picture === undefined ? [] : ['', picture])].join('\n')}\n`

const renderFields = (fields: readonly ExplainedField[], indent: string): string[] =>
  fields.flatMap((field, index) => {
    const last = index === fields.length - 1
    const meaning = field.meaning === undefined ? '' : `  (${field.meaning})`
    const value = field.value === undefined ? '' : `: ${printable(field.value)}`
    return [
      `${indent}${last ? '└─ ' : '├─ '}${field.name}${value}${meaning}`,
      ...renderFields(field.children ?? [], indent + (last ? '   ' : '│  ')),
    ]
  })

/** A message may hold control characters that would steer the terminal. */
const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
  text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${code}`
  })

/** The typed value as one line of JSON. */
export const renderJson = ({ value }: Explanation): string =>
  `${JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? member.toString() : member,
  )}\n`
