/** What whoever plays other institutions is told where the directory refuses. */
import { afterAll, expect, test } from 'bun:test'
import { createDirectory } from '#src/simulators/directory/index.ts'

const directory = await createDirectory()
afterAll(directory.stop)
const origin = new URL(directory.url).origin
const phone = '+5561988880001'
const ana = { name: 'Ana', tax_id: '98765432100', account: '1' }
const keep = { key_type: 'PHONE', key: phone, ...ana, ispb: '87654321' }
const claim = { ...keep, type: 'PORTABILITY', ispb: '11111111' }
const nobody = '00000000-0000-4000-8000-000000000000'
const party = { participant: '87654321' }

const control = async (path: string, body: object) => {
  const response = await fetch(`${origin}/simulator/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

test.each<[string, object, number, string]>([
  ['claims', claim, 404, 'ClaimKeyNotFound'],
  ['claims', { ...claim, key_type: 'EVP' }, 400, 'ClaimInvalid'],
  ['claims', { type: 'PORTABILITY' }, 400, 'bad_request'],
  ['entries', { ...keep, key: 'no phone' }, 400, 'EntryInvalid'],
  ['entries', { ...keep, key_type: 'EVP' }, 400, 'EntryInvalid'],
  ['entries', {}, 400, 'bad_request'],
  ['orders', {}, 400, 'bad_request'],
  ['faults', [{ kind: 'none' }], 400, 'bad_request'],
  ['faults', [{ kind: 'late_list', operation: 'write' }], 400, 'bad_request'],
  ['faults', [{ kind: 'damaged_file', operation: 'claim' }], 400, 'bad_request'],
  [
    ...(['refunds', { ...party, transaction_id: 'E1234567', amount_cents: 1 }] as const),
    ...([400, 'RefundTransactionNotFound'] as const),
  ],
  [`refunds/${nobody}/cancel`, party, 404, 'NotFound'],
  [`infraction-reports/${nobody}/acknowledge`, party, 404, 'NotFound'],
])('%s of %j is answered %i %s', async (path, body, status, error) => {
  const answer = await control(path, body)
  expect([answer.status, answer.json['error']]).toEqual([status, error])
})

test('a key is kept and claimed once', async () => {
  expect((await control('entries', keep)).status).toBe(201)
  const again = await control('entries', keep)
  expect([again.status, again.json['error']]).toEqual([400, 'EntryAlreadyExists'])
  expect((await control('claims', claim)).status).toBe(201)
  const other = await control('claims', claim)
  expect([other.status, other.json]).toEqual([
    400,
    { error: 'ClaimAlreadyExistsForKey', title: 'Claim already exists for key', detail: '' },
  ])
})
