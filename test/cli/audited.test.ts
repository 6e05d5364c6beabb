/** What commands do with the database is in the audit log, as what is done over HTTP. */
import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPostgresBroker, deadLetterHeaders, topics } from '#src/platform/broker/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { issueCertificate } from '../support/pki.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const { sql, dsn, close } = await createTestDatabase()
afterAll(close)

const env = { DATABASE_DSN: dsn, TRILHO_MASTER_KEY: randomBytes(32).toString('base64') }

/** The entries that a command left: action, object and outcome. */
const left = async (...argv: readonly string[]) => {
  const [{ at } = { at: 0 }] = await sql<
    { at: number }[]
  >`select count(*)::int as at from audit_log`
  const { code, out, err } = await commandHere(argv, env)
  const rows = await sql<Record<'actor' | 'action' | 'object' | 'outcome', string>[]>`
    select actor, action, object, outcome from audit_log order by id offset ${at}`
  expect(rows.every(({ actor }) => actor === commandActor().id)).toBe(true)
  const entries = rows.map(({ action, object, outcome }) => [action, object, outcome])
  return { code, out, err, entries }
}

test('what is retried and dropped of the dead letters', async () => {
  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
  const bury = (topic?: string) =>
    broker.publish([
      {
        topic: topics.deadLetters,
        key: 'k',
        value: Buffer.from('<a/>'),
        headers: topic === undefined ? {} : { [deadLetterHeaders.topic]: topic },
      },
    ])
  for (const topic of ['one', 'two', 'two', 'one', undefined]) await bury(topic)
  const listed = await left('dlq', 'list', '--json')
  expect(listed.entries).toEqual([])
  const ids = JSON.parse(listed.out)
    .letters.map(({ id }: { id: string }) => id)
    .toReversed()
  const retried = (id: string) => ['dead_letters.retry', id, 'retried']
  expect((await left('dlq', 'retry', ids[0])).entries).toEqual([retried(ids[0])])
  const all = await left('dlq', 'retry', '--all', '--topic', 'two')
  expect(all.entries).toEqual([retried(ids[1]), retried(ids[2])])
  expect((await left('dlq', 'drop', ids[3])).entries).toEqual([
    ['dead_letters.drop', ids[3], 'dropped'],
  ])
  expect(await left('dlq', 'drop', ids[3])).toMatchObject({ code: 1, entries: [] })
  // It says no topic, and stays.
  expect(await left('dlq', 'retry', ids[4])).toMatchObject({ code: 1, entries: [] })
})

test('what is sealed anew, and what is derived again, before it begins', async () => {
  const rotated = await left('rotate-master-key', '--json')
  expect(rotated).toMatchObject({ code: 0, err: '' })
  const { sealed } = JSON.parse(rotated.out) as { sealed: readonly { readonly what: string }[] }
  expect(rotated.entries).toEqual(sealed.map(({ what }) => ['master_key.rotate', what, 'begun']))
  expect(sealed).not.toEqual([])
  expect((await left('rebuild')).entries).toEqual([
    ['recurring.rebuild', 'mandates and charges', 'begun'],
  ])
})

test('private keys that are shown, or seal and open messages of the network', async () => {
  const authority = issueCertificate('SERASA Autoridade Certificadora v5', { authority: true })
  const folder = temporaryDirectory()
  const ispb = '12345678'
  const { cert, key } = issueCertificate('us', { issuer: authority })
  const file = join(folder, 'pair.pem')
  writeFileSync(file, `${cert}${key}`)
  const name = `${ispb}.SPB.1`
  const imported = await left('certs', 'import', file, '--ispb', ispb, '--type', 'SPB')
  expect(imported).toMatchObject({ err: '', entries: [['certificates.import', name, 'imported']] })

  expect((await left('certs', 'export', name)).entries).toEqual([])
  const shown = ['certificates.export', name, 'done']
  const exported = await left('certs', 'export', name, '--private-key')
  expect(exported.entries).toEqual([shown])
  expect(exported.out).toContain('PRIVATE KEY')
  expect((await left('certs', 'manifest', name)).entries).toEqual([shown])

  Object.assign(env, { ISPB: ispb, RSFN_KEY_SOURCE: 'store' })
  const [text, message] = [join(folder, 'text.xml'), join(folder, 'message.bin')]
  writeFileSync(text, '<DOC/>')
  const sealed = await left('rsfn', 'seal', text, '--to', ispb, '--out', message)
  expect(sealed).toMatchObject({ err: '', entries: [['rsfn.seal', 'trilho rsfn seal', 'done']] })
  const opened = await left('rsfn', 'open', message)
  expect(opened).toMatchObject({ err: '', entries: [['rsfn.open', 'trilho rsfn open', 'done']] })

  // Nobody is shown a key that the log does not tell of.
  await sql`alter table audit_log rename to audit_away`
  const untold = await commandHere(['certs', 'export', name, '--private-key'], env)
  expect(untold.code).toBe(1)
  expect(untold.out).not.toContain('PRIVATE KEY')
})

test('what a command does after migrate, before any gateway ran, is in the partition of its month', async () => {
  const fresh = await createTestDatabase()
  try {
    const here = { DATABASE_DSN: fresh.dsn }
    expect(await commandHere(['migrate'], here)).toMatchObject({ code: 0, err: '' })
    const argv = ['keys', 'create', '--name', 'first', '--scopes', 'ops:read', '--json']
    expect((await commandHere(argv, here)).code).toBe(0)
    const rows = await fresh.sql<{ place: string }[]>`
      select tableoid::regclass::text as place from audit_log`
    expect(rows.map(({ place }) => place)).toEqual([
      expect.stringMatching(/^audit_log_p\d{6}$/) as unknown as string,
    ])
  } finally {
    await fresh.close()
  }
})
