import { commandActor, writeAudit } from '#src/platform/http/index.ts'
import { rebuildRecurring } from '#src/spi/index.ts'
import { type Command, inDatabase, print } from './command.ts'
import { inProgress } from './progress.ts'

/** Derives the projections anew from stored messages. */
export const rebuildCommand: Command = {
  name: 'rebuild',
  summary: 'Derives mandates and charges of Pix Automático from the stored messages again.',
  usage: '',
  description: `Reads every stored message about mandates and charges in the database of DATABASE_DSN, and writes their states, terms
and timelines anew, in the same steps as when the messages came: once a version reads more of them, or where the tables are in
doubt. Nobody is told by events. It may run beside a gateway, be stopped and begun again at any time. What a message
that is not kept any more said something of stays as it is.`,
  options: { json: { doc: 'One JSON object.' } },
  examples: ['trilho rebuild', 'trilho rebuild --json'],
  run: async (args, io, program) => {
    const done = await inDatabase(program, io, async (sql) => {
      // Recorded before the work: an interrupted run keeps what it has written by then.
      await writeAudit(sql, {
        actor: commandActor(),
        action: 'recurring.rebuild',
        object: 'mandates and charges',
        outcome: 'begun',
      })
      return inProgress(io, 'messages', (onProgress) => rebuildRecurring(sql, onProgress))
    })
    return print(
      args,
      io,
      done,
      () =>
        `${done.messages} messages: ${done.mandates} mandates and ${done.charges} charges rebuilt, ${done.changed} of them changed, ${done.removed} removed, ${done.kept} left as they were`,
    )
  },
}
