/** What ends when the SPI refuses a whole message of ours, by each of the ways in which we learn of it. */
import { afterAll, expect, test } from 'bun:test'
import { tellRefusals } from '#src/pix/index.ts'
import { createLetterSubjects, rebuildRecurring } from '#src/spi/index.ts'
import { changeStatuses } from '#src/spi/messages/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { messagesOfPayment } from '../../src/spi/payments/store.ts'
import {
  fresh,
  payment,
  refusal,
  report,
  storedWhen,
  tellingOf,
  workerOn,
} from '../spi/in/worker/support.ts'
import { rigOn, runningOn } from '../spi/out/stage/support.ts'
import { farYear } from '../support/far-year.ts'
import { subscribe } from '../support/webhooks.ts'
import { startPix } from './support.ts'

const pix = await startPix()
const { sql, database, receivables, recurrences } = pix
await subscribe(sql, ['pix.returned'])
const startWorker = async () => {
  const worker = await workerOn(database, { receivables, recurrences })
  await worker.feature.start?.()
  return worker
}
const worker = await startWorker()
const rig = await rigOn(database)
afterAll(async () => {
  await worker.stop()
  await rig.broker.stop()
  await database.close()
})
const { key, token } = await pix.receiver('ana')

const tell = tellingOf(database, worker)

/** A return that is under way. */
const asked = async () => {
  const endToEndId = fresh.endToEndId()
  const proxy = `<Prxy><Id>${key}</Id></Prxy>`
  const paid = payment({ endToEndId, instrument: 'DICT', amount: '37.00', proxy })
  await tell(paid.replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2'))
  await tell(report([{ endToEndId, status: 'ACCC' }]))
  const path = `/pix/v2/pix/${endToEndId}/devolucao`
  const call = (method: string, id: string, valor?: string) =>
    pix.call(method, `${path}/${id}`, { token, ...(valor && { body: { valor } }) })
  const made = await call('PUT', 'd1', '37.00')
  expect(made.json).toMatchObject({ status: 'EM_PROCESSAMENTO' })
  const sent = (await messagesOfPayment(sql, endToEndId)).find(({ type }) => type === 'pacs.004')
  return { endToEndId, call, messageId: sent?.messageId ?? '' }
}

const remember = (reference: string) => sql`
  insert into spi_pending_answers (message_id, reference, outcome, reason)
  values (${Bun.randomUUIDv7()}, ${reference}, 'REJECTED', 'schema')`

const refuseAtOnce = async (messageId: string): Promise<void> => {
  const resourceId = fresh.resourceId()
  await changeStatuses(sql, [{ id: messageId, status: 'SENT', resourceId }])
  await tell(refusal(resourceId))
}

const ways: readonly (readonly [string, (messageId: string) => Promise<void>])[] = [
  ['at once', refuseAtOnce],
  [
    'before its sending is recorded',
    async (messageId) => {
      const client = {
        channels: ['PRIMARY' as const],
        send: async (_: string, messages: readonly Uint8Array[]) => {
          const resourceIds = messages.map(fresh.resourceId)
          for (const id of resourceIds) await remember(id)
          return { kind: 'accepted' as const, resourceIds }
        },
        pay: async () => undefined,
        admit: () => Promise.reject(new Error('not used')),
        room: () => Promise.reject(new Error('not used')),
        openStream: () => Promise.reject(new Error('not used')),
        catalogue: () => Promise.reject(new Error('not used')),
        close: async () => {},
      }
      const refused = () =>
        storedWhen(database, 'id', messageId, ({ status }) => status === 'REJECTED')
      await runningOn(rig)(async () => void (await refused()), client, {
        receivables,
        recurrences,
      })
    },
  ],
  [
    'at the moment at which its sending is recorded',
    async (messageId) => {
      const resourceId = fresh.resourceId()
      await changeStatuses(sql, [{ id: messageId, status: 'SENT', resourceId }])
      await remember(resourceId)
      await sql`delete from job_leases where name = 'remembered answers'`
      const other = await startWorker()
      await storedWhen(database, 'id', messageId, ({ status }) => status === 'REJECTED')
      await other.stop()
    },
  ],
]

const toldOf = async (endToEndId: string) => {
  const told = await sql<{ data: string }[]>`
    select data from webhook_events where type = 'pix.returned' order by id`
  return told.map(({ data }) => JSON.parse(data)).filter((one) => one.end_to_end_id === endToEndId)
}

test.each(ways)('refused %s, a return has ended', async (_, refuse) => {
  const { endToEndId, call, messageId } = await asked()
  await refuse(messageId)
  const ended = { status: 'NAO_REALIZADO', motivo: 'schema' }
  expect((await call('GET', 'd1')).json).toMatchObject(ended)
  expect((await call('PUT', 'd1', '37.00')).json).toMatchObject(ended)
  expect(await toldOf(endToEndId)).toMatchObject([{ return_id: 'd1', status: 'rejected' }])
  expect((await call('PUT', 'd2', '37.00')).status).toBe(201)
})

test('a return that is refused, ordered again and settled is told of again', async () => {
  const { endToEndId, call } = await asked()
  const { rtrId: instructionId } = (await call('GET', 'd1')).json
  await tell(report([{ endToEndId, instructionId, status: 'RJCT', reason: 'AM09' }]))
  expect((await call('GET', 'd1')).json).toMatchObject({ status: 'NAO_REALIZADO', motivo: 'AM09' })
  await tell(report([{ endToEndId, instructionId, status: 'ACCC' }]))
  const ended = (await call('GET', 'd1')).json
  expect(ended).toMatchObject({ status: 'DEVOLVIDO', horario: { liquidacao: expect.any(String) } })
  expect(ended.motivo).toBeUndefined()
  expect(await toldOf(endToEndId)).toMatchObject([{ status: 'rejected' }, { status: 'settled' }])
  await tell(report([{ endToEndId, instructionId, status: 'RJCT', reason: 'AM09' }]))
  expect((await call('GET', 'd1')).json).toEqual(ended)
})

const call = (method: string, path: string, body?: object) =>
  pix.call(method, `/pix/v2${path}`, { token, ...(body && { body }) })

const requested = async () => {
  const rec = await call('POST', '/rec', {
    vinculo: { contrato: 'C-1', devedor: { cpf: '45164632481', nome: 'Fulano de Tal' } },
    calendario: { dataInicial: `${farYear}-01-01`, periodicidade: 'MENSAL' },
    politicaRetentativa: 'NAO_PERMITE',
  })
  return requestedFor(rec.json.idRec)
}

const requestedFor = async (idRec: string) => {
  const recipient = { agencia: '2569', conta: '550689', cpf: '15231470190' }
  const asked = await call('POST', '/solicrec', {
    idRec,
    calendario: { dataExpiracaoSolicitacao: new Date(Date.now() + 3_600_000).toISOString() },
    destinatario: { ...recipient, ispbParticipante: '91193552' },
  })
  expect(asked.status).toBe(201)
  const [message] = await sql<{ id: string }[]>`
    select id from spi_messages where type = 'pain.009' order by id desc limit 1`
  const path = `/solicrec/${asked.json.idSolicRec}`
  const status = async () => (await call('GET', path)).json.status as unknown
  return { messageId: message?.id ?? '', idRec, path, status }
}

test.each(ways)('refused %s, the request for a recurrence has ended', async (_, refuse) => {
  const { messageId, status } = await requested()
  await refuse(messageId)
  expect(await status()).toBe('REJEITADA')
})

test('a request that was taken back ends none after it by being refused', async () => {
  const before = await requested()
  expect((await call('PATCH', before.path, { status: 'CANCELADA' })).status).toBe(201)
  const after = await requestedFor(before.idRec)
  const mandate = async () => {
    const [row] = await sql<{ state: string }[]>`
      select state from spi_recurrences where key = ${before.idRec}`
    return row?.state
  }
  await refuseAtOnce(before.messageId)
  expect([await before.status(), await after.status()]).toEqual(['CANCELADA', 'ENVIADA'])
  expect(await mandate()).toBe('requested')
  await rebuildRecurring(sql)
  expect(await mandate()).toBe('requested')
  await refuseAtOnce(after.messageId)
  expect([await after.status(), await mandate()]).toEqual(['REJEITADA', 'rejected'])
})

test.each([
  ['by the gateway', recurrences],
  ['by a gateway without ISPB', pix.recurrencesWithoutIspb],
  ['by the command', tellRefusals(emitEvents)],
])(
  'never sent, and thrown out of dlq %s, the request for a recurrence has ended',
  async (_, told) => {
    const { messageId, idRec, status } = await requested()
    const letter = { headers: { 'message-id': messageId } }
    const subjects = createLetterSubjects(emitEvents, receivables, told)
    expect(await subjects.held(sql, [letter])).toEqual([])
    await changeStatuses(sql, [{ id: messageId, status: 'FAILED', errorCode: 'refused' }])
    expect(await subjects.held(sql, [letter])).toEqual([letter])
    await sql.begin((tx) => subjects.end(tx, letter))
    expect(await status()).toBe('REJEITADA')
    const [mandate] = await sql`select state from spi_recurrences where key = ${idRec}`
    expect(mandate).toEqual({ state: 'rejected' })
    expect(await subjects.held(sql, [letter])).toEqual([])
  },
)
