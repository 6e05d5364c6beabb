import type { Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { type Ending, movedTo, type Recurrence } from '../recurrences/domain.ts'
import { type Collection, openAttempts } from './domain.ts'
import { collectionEvents } from './events.ts'
import { payingAttempts } from './paying.ts'
import { changeCollection, lockOpenCollections } from './store.ts'

/** A charge that nobody may pay any more, with its attempts. */
export const cancelledCollection = (
  collection: Collection,
  ending: Collection['ending'],
  at: Date,
): Collection => ({
  ...movedTo(collection, 'CANCELADA', at),
  ending,
  nextAt: null,
  attempts: collection.attempts.map((attempt) =>
    openAttempts.has(attempt.status) ? movedTo(attempt, 'CANCELADA', at) : attempt,
  ),
})

/** Its payer has refused it, or nobody has: then it has expired here. */
const requesterOf = (ending: Ending | null): string =>
  ending?.cancelamento?.solicitante ??
  (ending?.rejeicao === undefined ? 'PSP_RECEBEDOR' : 'USUARIO_PAGADOR')

/** The codes of a charge's end are others than those of its recurrence. */
const endedWith = (ending: Ending | null): Ending => ({
  cancelamento: {
    solicitante: requesterOf(ending),
    codigo: 'CCLD',
    descricao: 'Cancelamento da autorização',
  },
})

/** Recurrences are over: so is what was to be charged for them, but for what is being paid until that has its end. */
export const endCollections = async (
  tx: Queryable,
  recurrences: readonly Recurrence[],
  context: { readonly emit: Emit; readonly at: Date },
): Promise<void> => {
  if (recurrences.length === 0) return
  const ids = recurrences.map(({ id }) => id)
  await endOpen(tx, await lockOpenCollections(tx, ids), recurrences, context)
}

/** The same of charges that are locked already. */
export const endOpen = async (
  tx: Queryable,
  open: readonly Collection[],
  recurrences: readonly Recurrence[],
  { emit, at }: { readonly emit: Emit; readonly at: Date },
): Promise<void> => {
  const endings = new Map(recurrences.map(({ id, ending }) => [id, ending]))
  const paying = await payingAttempts(tx, open)
  const ended = open
    .filter(({ attempts }) => !attempts.some(({ endToEndId }) => paying.has(endToEndId)))
    .map((one) => cancelledCollection(one, endedWith(endings.get(one.recurrenceId) ?? null), at))
  for (const one of ended) await changeCollection(tx, one)
  await emit(tx, await collectionEvents(tx, ended))
}
