/** Claims in the simulated directory: who may do what when, and what becomes of the entries. */
import { afterAll, expect, test } from 'bun:test'
import { type Claim, type ClaimRequest, claimElement, readClaim, writeElement } from '#codecs/dict'
import { createXmlScanner } from '#codecs/xml'
import { createDirectory } from '#src/simulators/directory/index.ts'
import { hasSharedData, readSharedData, skipReason } from '../../support/shared-data.ts'

const dayMs = 86_400_000
const [claimer, donor, stranger] = ['12345678', '87654321', '99999999']
let nowMs = Date.parse('2026-11-01T12:00:00Z')
const directory = await createDirectory({ now: () => nowMs, claimAnswerMs: 1_000 })
afterAll(directory.stop)
const { claims } = directory

let serial = 0
const entryOf = (more: object = {}) => ({
  key_type: 'PHONE' as const,
  key: `+55619888${10_000 + ++serial}`,
  name: 'Ana Souza',
  tax_id: '98765432100',
  ispb: donor,
  account: String(serial),
  account_type: 'CACC' as const,
  ...more,
})
const asked = (
  key: string,
  type: ClaimRequest['type'],
  taxIdNumber = type === 'PORTABILITY' ? '98765432100' : '12345678909',
): ClaimRequest => ({
  type,
  key,
  keyType: 'PHONE',
  openedAt: '2020-01-01T03:00:00Z',
  account: { participant: claimer, accountNumber: '500100', accountType: 'CACC' },
  claimer: { taxIdNumber, name: 'João Silva' },
})
const opened = (type: ClaimRequest['type'], more: object = {}): Claim =>
  claims.open(asked(directory.register(entryOf(more)), type))
const codeOf = (run: () => unknown): string => {
  try {
    run()
    return 'none'
  } catch (error) {
    return (error as { code: string }).code
  }
}
const look = (key: string) =>
  fetch(`${directory.url}/entries/${encodeURIComponent(key)}`, {
    headers: {
      'PI-RequestingParticipant': stranger,
      'PI-PayerId': '12345678909',
      'PI-EndToEndId': 'E99999999202611011200abcdefghijk',
    },
  })
const uuid = (): string => crypto.randomUUID()

test('a portability moves the key with its age; the donor has seven days to say no', async () => {
  const { id, key, resolutionEndsAt, completionEndsAt } = opened('PORTABILITY')
  expect([resolutionEndsAt, completionEndsAt]).toEqual([
    new Date(nowMs + 7 * dayMs).toISOString(),
    undefined,
  ])
  expect(await (await look(key)).text()).toContain('<OpenClaimCreationDate>')
  expect(codeOf(() => claims.open(asked(key, 'PORTABILITY')))).toBe('ClaimAlreadyExistsForKey')
  expect(codeOf(() => claims.confirm(id, donor, 'USER_REQUESTED'))).toBe('ClaimOperationInvalid')
  expect(claims.acknowledge(id, donor).status).toBe('WAITING_RESOLUTION')
  expect(claims.acknowledge(id, donor).status).toBe('WAITING_RESOLUTION')
  expect(codeOf(() => claims.cancel(id, donor, 'DEFAULT_OPERATION'))).toBe(
    'ClaimResolutionPeriodNotEnded',
  )
  expect(codeOf(() => claims.confirm(id, donor, 'DEFAULT_OPERATION'))).toBe('InvalidReason')
  expect(codeOf(() => claims.confirm(id, claimer, 'USER_REQUESTED'))).toBe('Forbidden')
  expect(codeOf(() => directory.remove(key))).toBe('EntryLockedByClaim')
  nowMs += dayMs
  expect(claims.confirm(id, donor, 'USER_REQUESTED').status).toBe('CONFIRMED')
  expect((await look(key)).status).toBe(404)
  const requestId = uuid()
  const first = claims.complete(id, claimer, requestId)
  expect(claims.complete(id, claimer, requestId)).toEqual(first)
  expect(codeOf(() => claims.complete(id, claimer, uuid()))).toBe('ClaimOperationInvalid')
  expect(first.kept.entry.ownedSince).toBe(new Date(nowMs - dayMs).toISOString())
  expect(await (await look(key)).text()).toContain(`<Participant>${claimer}<`)
})

test('an ownership is let through by silence, and completed when possession is proven', () => {
  const { id, key } = opened('OWNERSHIP')
  claims.acknowledge(id, donor)
  expect(codeOf(() => claims.cancel(id, donor, 'USER_REQUESTED'))).toBe('InvalidReason')
  expect(codeOf(() => claims.cancel(id, donor, 'RFB_VALIDATION'))).toBe('InvalidReason')
  expect(codeOf(() => claims.confirm(id, donor, 'DEFAULT_OPERATION'))).toBe(
    'ClaimResolutionPeriodNotEnded',
  )
  nowMs += 7 * dayMs
  expect(claims.confirm(id, donor, 'DEFAULT_OPERATION').status).toBe('CONFIRMED')
  expect(codeOf(() => claims.complete(id, claimer, uuid()))).toBe('ClaimCompletionPeriodNotEnded')
  nowMs += 7 * dayMs
  const { kept } = claims.complete(id, claimer, uuid())
  expect([kept.entry.key, kept.entry.ownedSince]).toEqual([
    key,
    new Date(nowMs - 7 * dayMs).toISOString(),
  ])
  // Agreed to, it need not wait.
  const agreed = opened('OWNERSHIP')
  claims.acknowledge(agreed.id, donor)
  claims.confirm(agreed.id, donor, 'USER_REQUESTED')
  expect(claims.complete(agreed.id, claimer, uuid()).claim.status).toBe('COMPLETED')
})

test('what cannot be claimed is refused by its name', () => {
  const key = directory.register(entryOf())
  const refused = (claim: ClaimRequest) => codeOf(() => claims.open(claim))
  expect(refused({ ...asked(key, 'OWNERSHIP'), keyType: 'EMAIL' })).toBe('ClaimInvalid')
  expect(refused(asked('+5561900000000', 'OWNERSHIP'))).toBe('ClaimKeyNotFound')
  expect(refused(asked(key, 'OWNERSHIP', '98765432100'))).toBe('ClaimTypeInconsistent')
  expect(refused(asked(key, 'PORTABILITY', '12345678909'))).toBe('ClaimTypeInconsistent')
  const own = directory.register(entryOf({ ispb: claimer }))
  expect(refused(asked(own, 'PORTABILITY'))).toBe('ClaimResultingEntryAlreadyExists')
  expect(codeOf(() => claims.find(uuid(), claimer))).toBe('NotFound')
  const { id } = claims.open(asked(key, 'OWNERSHIP'))
  expect(codeOf(() => claims.find(id, stranger))).toBe('Forbidden')
})

test('lists know of a change five seconds later, and give pages', async () => {
  nowMs += 1
  const made = [opened('PORTABILITY'), opened('PORTABILITY'), opened('OWNERSHIP')]
  const ids = async (query: string): Promise<readonly string[]> => {
    const answer = await fetch(`${directory.url}/claims/?Participant=${donor}&${query}`)
    return [...(await answer.text()).matchAll(/<Id>([^<]+)/g)].map(([, id]) => String(id))
  }
  const after = `ModifiedAfter=${encodeURIComponent(new Date(nowMs).toISOString())}`
  expect(await ids(`IsDonor=true&${after}`)).toEqual([])
  nowMs += 5_000
  expect(await ids(`IsDonor=true&${after}`)).toEqual(made.map(({ id }) => id))
  expect(await ids(`IsDonor=true&Limit=2&${after}`)).toHaveLength(2)
  expect(await ids(`IsClaimer=true&${after}`)).toEqual([])
  expect(await ids(`IsDonor=true&Type=OWNERSHIP&Status=OPEN&${after}`)).toEqual([made[2]?.id ?? ''])
  const wrong = await fetch(`${directory.url}/claims/?Participant=${donor}&Status=LOST`)
  expect(wrong.status).toBe(400)
})

test('lists are late, or say that they go on, where that is asked for', async () => {
  const { id } = opened('PORTABILITY')
  nowMs += 5_000
  const after = new Date(nowMs - 5_000).toISOString()
  const query = `Participant=${donor}&IsDonor=true&ModifiedAfter=${encodeURIComponent(after)}`
  const list = async () => {
    const text = await (await fetch(`${directory.url}/claims/?${query}`)).text()
    return [text.includes(id), text.includes('<HasMoreElements>true<')]
  }
  expect(await list()).toEqual([true, false])
  directory.setFaults([{ kind: 'late_list', operation: 'claim' }])
  expect(await list()).toEqual([false, false])
  directory.setFaults([{ kind: 'repeated_list' }])
  expect(await list()).toEqual([true, true])
  directory.setFaults([])
})

test('an institution that is played answers and completes of itself', async () => {
  const pass = async (ms: number, id: string) => {
    nowMs += ms
    await fetch(`${directory.url}/claims/?Participant=${donor}`)
    return claims.find(id, claimer).status
  }
  for (const [manner, end] of [
    ['confirm', 'CONFIRMED'],
    ['cancel', 'CANCELLED'],
    ['silent', 'WAITING_RESOLUTION'],
  ] as const) {
    const { id } = opened('PORTABILITY', { on_claim: manner })
    expect(await pass(0, id)).toBe('OPEN')
    expect(await pass(1_000, id)).toBe('WAITING_RESOLUTION')
    expect(await pass(1_000, id)).toBe(end)
    if (manner === 'silent') expect(await pass(7 * dayMs, id)).toBe('CANCELLED')
  }
  const { key_type, key, name: _, tax_id: __, ...account } = entryOf({ ispb: donor })
  directory.register({ key_type, key, name: 'Ana', tax_id: '98765432100', ...account })
  const body = { ...account, ispb: claimer, name: 'João', tax_id: '12345678909' }
  const id = directory.claim({ type: 'OWNERSHIP', key_type, key, ...body })
  claims.acknowledge(id, donor)
  claims.confirm(id, donor, 'USER_REQUESTED')
  expect(await pass(1_000, id)).toBe('COMPLETED')
})

test.skipIf(!hasSharedData)(`the official example is read and written${skipReason}`, () => {
  const scanner = createXmlScanner()
  const example = (name: string) => readSharedData(`dict/examples/claims/${name}.xml`)
  const document = scanner.scan(example('ListClaimsResponse'))
  const list = document
    .childrenOf(document.root)
    .find((node) => document.localName(node) === 'Claims')
  const [node = -1] = document.childrenOf(list ?? -1)
  const claim = readClaim(document, node)
  expect(claim).toMatchObject({
    id: '123e4567-e89b-12d3-a456-426655440000',
    donor: '87654321',
    status: 'CANCELLED',
    confirmReason: 'DEFAULT_OPERATION',
    cancelReason: 'FRAUD',
    cancelledBy: 'DONOR',
  })
  const plain = Buffer.from(example('ListClaimsResponse')).toString().replace(/>\s+</g, '><')
  expect(plain).toContain(Buffer.from(writeElement(claimElement(claim))).toString())
  const other = claimElement({ ...claim, openedAt: '2010-01-10T03:00:00Z' })[1]?.slice(0, 5) ?? []
  const request = writeElement(['Claim', other as Exclude<typeof other, string>])
  const asPlain = Buffer.from(example('CreateClaimRequest')).toString().replace(/>\s+</g, '><')
  expect(asPlain).toContain(Buffer.from(request).toString())
})
