import { readFile, stat } from 'node:fs/promises'
import type { ReadOutside } from '#src/platform/http/index.ts'
import { addDays, dayAt } from '#src/platform/runtime/index.ts'
import { ListError, listBytesMax, textOf } from './text.ts'

const participantsUrl =
  'https://www.bcb.gov.br/content/estabilidadefinanceira/participantes_pix/lista-participantes-instituicoes-em-adesao-pix-'
const daysBack = 7

/** The days of the last week, today first, each with the file that the central bank publishes on it. */
export const participantUrls = (
  now: Date,
): readonly { readonly url: string; readonly day: string }[] =>
  Array.from({ length: daysBack + 1 }, (_, back) => {
    const day = addDays(dayAt(now), -back)
    return { day, url: `${participantsUrl}${day.replaceAll('-', '')}.csv` }
  })

const isUrl = (from: string): boolean => /^https?:\/\//i.test(from)

/**
 * The text of a list: of a file, or of an address.
 *
 * @throws ListError
 */
export const readList = async (from: string, readOutside: ReadOutside): Promise<string> => {
  if (isUrl(from)) {
    const accept = 'text/csv, application/json, */*;q=0.5'
    const { status, body } = await readOutside(from, { accept, bytesMax: listBytesMax }).catch(
      (error: unknown): never => {
        throw new ListError(`${from}: ${error instanceof Error ? error.message : error}`)
      },
    )
    if (status !== 200) throw new ListError(`${from} answers ${status}`)
    return textOf(body)
  }
  if ((await stat(from)).size > listBytesMax) {
    throw new ListError(`${from} has more than ${listBytesMax} bytes`)
  }
  return textOf(new Uint8Array(await readFile(from)))
}
