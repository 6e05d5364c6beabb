import { ispbForm } from '#codecs/taxpayer'
import { type Line, ListError, linesOf } from '../text.ts'
import type { Participant } from './domain.ts'

const nameCharsMax = 200
const participantsMax = 20_000
/** Above it there are titles. */
const headLinesMax = 20
/** The central bank lists some nine hundred: fewer is a file that broke off. */
export const participantsMin = 100

const plain = (cell: string): string =>
  cell
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase()

/** ISPB loses its leading zeros in spreadsheets. */
const ispbOf = (cell: string): string => (/^\d{1,8}$/.test(cell) ? cell.padStart(8, '0') : cell)

const settlementOf = (cell: string | undefined): Participant['settlement'] => {
  if (cell === undefined) return undefined
  const word = plain(cell)
  if (word === 'direta' || word === 'drct') return 'direct'
  return word === 'indireta' || word === 'idrt' ? 'indirect' : undefined
}

type Columns = { readonly of: (...names: readonly string[]) => (line: Line) => string | undefined }

const columnsOf = (head: Line): Columns => {
  const names = head.cells.map(plain)
  return {
    of: (...wanted) => {
      const at = names.findIndex((name) => wanted.includes(name))
      return ({ cells }) => (at === -1 || cells[at] === '' ? undefined : cells[at])
    },
  }
}

const isHead = ({ cells }: Line): boolean => cells.some((cell) => plain(cell) === 'ispb')

/**
 * Reads the central bank's list of participants of Pix, of the SPI, or of the STR: a CSV with a column ISPB. What takes
 * no part yet, which stands under a second heading, is left out, as are lines without ISPB.
 *
 * @throws ListError that names the line
 */
export const readParticipants = (text: string): readonly Participant[] => {
  const lines = linesOf(text)
  const at = lines.slice(0, headLinesMax).findIndex(isHead)
  const head = lines[at]
  if (head === undefined) throw new ListError('no heading among the first lines has a column ISPB')
  const columns = columnsOf(head)
  const ispbIn = columns.of('ispb')
  const nameIn = columns.of('nomereduzido', 'nome', 'name')
  const settlementIn = columns.of('tipodeparticipacaonospi', 'tipodeparticipacao')
  const modalityIn = columns.of('modalidadedeparticipacaonopix', 'modalidadeparticipacao')
  const codeIn = columns.of('numerocodigo')
  const found = new Map<string, Participant>()
  for (const line of lines.slice(at + 1)) {
    if (line.cells.length < head.cells.length / 2 || isHead(line)) break
    const cell = ispbIn(line)
    if (cell === undefined) continue
    const ispb = ispbOf(cell)
    const name = nameIn(line)
    if (!ispbForm.test(ispb))
      throw new ListError(`line ${line.line}: ${cell.slice(0, 20)} is no ISPB`)
    if (name === undefined || name.length > nameCharsMax) {
      throw new ListError(`line ${line.line}: the name must have 1 to ${nameCharsMax} characters`)
    }
    const code = codeIn(line)
    found.set(ispb, {
      ispb,
      name,
      settlement: settlementOf(settlementIn(line)),
      modality: modalityIn(line),
      code: code !== undefined && /^\d{1,3}$/.test(code) ? code.padStart(3, '0') : undefined,
    })
  }
  if (found.size < participantsMin) {
    throw new ListError(
      `there are ${found.size} participants, where at least ${participantsMin} are expected`,
    )
  }
  if (found.size > participantsMax)
    throw new ListError(`there are more than ${participantsMax} participants`)
  return [...found.values()].toSorted((a, b) => (a.ispb < b.ispb ? -1 : 1))
}
