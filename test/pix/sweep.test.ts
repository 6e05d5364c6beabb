/** What is due about recurrences and their charges, where much of it fails. */
import { afterAll, expect, test } from 'bun:test'
import { startAutomatic } from './automatic.ts'
import { freshTxid } from './support.ts'

const automatic = await startAutomatic()
const { pix, right, recBody, requested, approved, answer, cobrBody, at, sent, recOf } = automatic
const { sql } = pix
afterAll(() => pix.database.close())

/** More than one look takes. */
const badCount = 201

/** Nothing can be written of those whose ids begin so, which is before all others. */
await sql.unsafe(`
  create function refuse_bad() returns trigger language plpgsql as
    $$ begin raise exception 'a bad item'; end $$;
  create trigger refuse_bad before update on pix_recurrences
    for each row when (old.id like '!%') execute function refuse_bad();
  create trigger refuse_bad before update on pix_recurrence_requests
    for each row when (old.id like '!%') execute function refuse_bad()`)

/** Puts copies of a recurrence, and of its request if it has one, before it. */
const copyBad = async (idRec: string): Promise<void> => {
  await sql`
    insert into pix_recurrences
    select (json_populate_record(r, json_build_object('id', '!' || r.id || n, 'location_id', null,
      'terms', replace(r.terms, '2026-04-20', '2026-04-19')))).*
    from pix_recurrences r, generate_series(1, ${badCount}) n where r.id = ${idRec}`
  await sql`
    insert into pix_recurrence_requests
    select (json_populate_record(q, json_build_object(
      'id', '!' || q.id || n, 'recurrence_id', '!' || q.recurrence_id || n,
      'expires_at', q.expires_at - interval '1 s'))).*
    from pix_recurrence_requests q, generate_series(1, ${badCount}) n
    where q.recurrence_id = ${idRec}`
}
const dropBad = async (): Promise<void> => {
  await sql`delete from pix_recurrence_requests where id like '!%'`
  await sql`delete from pix_recurrences where id like '!%'`
}

test('a request past its end expires, whatever fails before it', async () => {
  const { idRec, idSolicRec } = await requested()
  await copyBad(idRec)
  await at('2026-03-10T12:00:01Z', pix.sweep)
  expect((await right('GET', `/solicrec/${idSolicRec}`)).status).toBe('EXPIRADA')
  await dropBad()
})

test('a recurrence past its last day expires, whatever fails before it', async () => {
  const calendario = { dataInicial: '2026-03-20', dataFinal: '2026-04-20', periodicidade: 'MENSAL' }
  const { idRec } = await right('POST', '/rec', recBody({ calendario }))
  await copyBad(idRec)
  await at('2026-04-21T12:00:00Z', pix.sweep)
  expect((await recOf(idRec)).status).toBe('EXPIRADA')
  await dropBad()
})

test('a recurrence whose first payment never came is refused, whatever fails before it', async () => {
  const ativacao = { dadosJornada: { txid: freshTxid() } }
  const { idRec } = await right('POST', '/rec', recBody({ ativacao }))
  await answer(idRec, 'pending', { journey: 'AUT3' })
  await copyBad(idRec)
  sent()
  await at('2026-03-10T12:00:00Z', pix.sweep)
  expect(sent()).toMatchObject([{ type: 'pain.012', params: { reason: 'AP08' } }])
  await dropBad()
})

test('a charge that fails on the last day of its schedule is tried again before that ends', async () => {
  const { txid } = await right('POST', '/cobr', cobrBody(await approved()))
  const fail = (content: string, by: string) => sql`
    update pix_collections set content = replace(content, ${content}, ${by}) where txid = ${txid}`
  await fail('CORRENTE', '\ufffe')
  const dueAfter = async (moment: string) => {
    await at(moment, pix.sweep)
    const [due] = await sql<{ at: Date }[]>`
      select next_at as at from pix_collections where txid = ${txid}`
    return due?.at.toISOString() ?? ''
  }
  expect(await dueAfter('2026-03-10T03:00:00Z')).toBe('2026-03-10T04:00:00.000Z')
  expect(await dueAfter('2026-03-19T02:30:00Z')).toBe('2026-03-19T02:45:00.000Z')
  const last = await dueAfter('2026-03-19T02:59:30Z')
  expect(last).toBe('2026-03-19T02:59:45.000Z')
  await fail('\ufffe', 'CORRENTE')
  await at(last, pix.sweep)
  expect((await right('GET', `/cobr/${txid}`)).tentativas).toHaveLength(1)
  sent()
})
