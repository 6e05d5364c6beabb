import { afterAll, expect, test } from 'bun:test'
import { createSealer } from '#src/platform/security/index.ts'
import { createLinkKeyStores, ModuleKey } from '../../src/cards/security/index.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { createRig } from '../support/drex-rig.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, runProgram } from '../support/program.ts'

const keyOf = (step: number): string =>
  Buffer.from(Uint8Array.from({ length: 32 }, (_, i) => i * step + 1)).toString('base64')
const old = { TRILHO_MASTER_KEY: keyOf(7) }
const newKey = { TRILHO_MASTER_KEY: keyOf(11) }
const both = { ...newKey, TRILHO_MASTER_KEY_PREVIOUS: keyOf(7) }

const database = await createTestDatabase()
const rig = await createRig(database.dsn)
afterAll(async () => {
  await rig.stop()
  await database.close()
})

const command = async (env: Readonly<Record<string, string>>, ...more: readonly string[]) => {
  const { TRILHO_MASTER_KEY: _, ...rest } = rig.env
  return runProgram(anyVariant, ['rotate-master-key', ...more], { env: { ...rest, ...env } })
}

const counts = async (env: Readonly<Record<string, string>>) => {
  const { code, out } = await command(env, '--json')
  return { code, ...(JSON.parse(out) as { sealed: readonly object[] }) }
}

/** The counts of all that is sealed, in the order of starting. */
const four = (each: (count: number) => object) => [
  { what: 'certificate keys', ...each(1) },
  { what: 'webhook secrets', ...each(2) },
  { what: 'wallet keys', ...each(3) },
  { what: 'card network keys', ...each(1) },
]

const pay = async (from: string, to: string) => {
  const body = { from_wallet: from, to_wallet: to, amount: '1.00' }
  expect((await rig.call('POST', '/v1/drex/transfers', body)).status).toBe(202)
}

test('everything sealed is sealed anew beside a running gateway; the old key is then not needed', async () => {
  await rig.start(old)
  const [ana = '', bia = ''] = await rig.wallets(3, 1_000n)
  const { cert, key } = issueCertificate('rotated')
  const imported = await rig.call('POST', '/v1/certificates', {
    ispb: '10000001',
    type: 'PIA',
    format: 'pem',
    content: `${cert}${key}`,
  })
  expect(imported.status).toBe(201)
  const hook = await rig.call('POST', '/v1/webhooks', {
    url: 'https://example.com/hook',
    events: ['drex.transfer.confirmed'],
    secret: 'the first secret of the two',
  })
  expect(hook.status).toBe(201)
  const { id } = hook.json as { id: string }
  await rig.call('POST', `/v1/webhooks/${id}/rotate`, { overlap_seconds: 3600 })

  // As a process has it that a network sent a key.
  const sealer = createSealer(Buffer.from(old.TRILHO_MASTER_KEY, 'base64'))
  const { of } = createLinkKeyStores(database.sql, sealer, quietLogger)
  await of('neta').offer(new Map([['mac', new ModuleKey('0123456789ABCDEF')]]), () => undefined)

  // Neither key opens anything: nothing is touched, and it is said.
  expect(await counts(newKey)).toEqual({
    code: 1,
    sealed: four((unreadable) => ({ resealed: 0, current: 0, unreadable })),
  })
  await rig.kill()
  // The start seals wallets anew by itself: they are put back, so that the command has all to do.
  const before = await database.sql<{ id: string; sealed_key: Uint8Array }[]>`
    select id, sealed_key from drex_wallets`
  await rig.start(both)
  for (const { id, sealed_key } of before) {
    await database.sql`update drex_wallets set sealed_key = ${sealed_key} where id = ${id}`
  }
  // Two at once, with transfers between: each record counts in one of them.
  const [first, second] = await Promise.all([counts(both), counts(both), pay(ana, bia)])
  expect([first.code, second.code]).toEqual([0, 0])
  expect(sum(first.sealed, second.sealed)).toEqual([1, 2, 3, 1])
  expect(await counts(both)).toEqual({
    code: 0,
    sealed: four((current) => ({ resealed: 0, current, unreadable: 0 })),
  })
  await pay(ana, bia)

  await rig.kill()
  await rig.start(newKey)
  await pay(ana, bia)
  const deadline = performance.now() + 40_000
  while ((await rig.balanceOf(bia)) !== 1_300n && performance.now() < deadline) await Bun.sleep(50)
  expect(await rig.balanceOf(bia)).toBe(1_300n)
  expect((await counts(newKey)).code).toBe(0)
}, 60_000)

const sum = (...runs: readonly (readonly object[])[]): readonly number[] =>
  [0, 1, 2, 3].map((at) =>
    runs.reduce((total, run) => total + (run[at] as { resealed: number }).resealed, 0),
  )

test('says what is missing, and shows a table', async () => {
  const none = await command({})
  expect([none.code, none.err]).toEqual([
    1,
    'trilho rotate-master-key: there is no key to seal with: set TRILHO_MASTER_KEY\n',
  ])
  const shown = await command(newKey)
  expect(shown.code).toBe(0)
  expect(shown.out).toMatch(/^WHAT +SEALED ANEW +CURRENT +UNREADABLE\n/)
}, 60_000)
