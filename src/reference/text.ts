import { parse } from 'csv-parse/sync'

/** A list that cannot be used; its message says where and why. */
export class ListError extends Error {
  override readonly name = 'ListError'
}

/** Published lists are some hundred KiB. */
export const listBytesMax = 4 * 1024 * 1024

/** The text of a file: UTF-8, or Windows-1252, which the central bank writes. */
export const textOf = (bytes: Uint8Array): string => {
  const isWorkbook =
    (bytes[0] === 0xd0 && bytes[1] === 0xcf) || (bytes[0] === 0x50 && bytes[1] === 0x4b)
  if (isWorkbook) throw new ListError('this is a workbook of a spreadsheet: save its table as CSV')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

export type Line = { readonly line: number; readonly cells: readonly string[] }

/** The lines of a CSV, divided by the character that most of its first lines have. @throws ListError */
export const linesOf = (text: string): readonly Line[] => {
  const head = text.slice(0, 2_000)
  const [delimiter = ';'] = [';', '\t', ','].toSorted(
    (a, b) => head.split(b).length - head.split(a).length,
  )
  try {
    const rows = parse(text, {
      bom: true,
      delimiter,
      relaxColumnCount: true,
      skipEmptyLines: true,
      trim: true,
      relaxQuotes: true,
      info: true,
    }) as unknown as readonly {
      readonly record: string[]
      readonly info: { readonly lines: number }
    }[]
    return rows.map(({ record, info }) => ({ line: info.lines, cells: record }))
  } catch (error) {
    throw new ListError(error instanceof Error ? error.message : 'this is no CSV', { cause: error })
  }
}

/** The JSON that a text is; undefined if it does not begin as JSON. @throws ListError */
export const jsonIn = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ListError(error instanceof Error ? error.message : 'this is no JSON', {
      cause: error,
    })
  }
}
