import type { Queryable } from '#src/platform/database/index.ts'
import { momentOf, type OutboundMessage } from '../../messages/index.ts'
import type { NoteReturn } from '../../payments/service.ts'
import type { Built } from './answers.ts'
import { remittanceOf } from './domain.ts'

type Return = {
  readonly endToEndId: string
  readonly note: Parameters<Awaited<ReturnType<NoteReturn>>>[0]
}

const isReturn = ({ type }: OutboundMessage): boolean => type === 'pacs.004'

/** Whether somebody is to learn of what is sent. */
export const isNoted = (built: readonly Built[], noteReturn: NoteReturn | undefined): boolean =>
  noteReturn !== undefined && built.some(({ message }) => isReturn(message))

const returnsIn = ({ message, params }: Built): readonly Return[] =>
  message.transactions.flatMap((one, position) => {
    const { endToEndId, instructionId: id, amountCents, reason } = one
    if (endToEndId === undefined || id === undefined) return []
    if (amountCents === undefined || reason === undefined) return []
    const description = remittanceOf(params, position)
    const note = { id, amountCents, reason, description, at: momentOf(message.id) }
    return [{ endToEndId, note }]
  })

/**
 * Locks the payments that are returned, in one order, before anything is stored.
 *
 * @returns what notes the returns once they are stored
 */
export const lockReturned = async (
  tx: Queryable,
  built: readonly Built[],
  noteReturn: NoteReturn | undefined,
): Promise<() => Promise<void>> => {
  const made = built.filter(({ message }) => isReturn(message)).flatMap(returnsIn)
  const notes = new Map<string, Awaited<ReturnType<NoteReturn>>>()
  for (const id of new Set(made.map(({ endToEndId }) => endToEndId).sort())) {
    const note = await noteReturn?.(tx, id)
    if (note !== undefined) notes.set(id, note)
  }
  return async () => {
    for (const { endToEndId, note } of made) await notes.get(endToEndId)?.(note)
  }
}
