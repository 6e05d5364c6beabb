import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac, createPrivateKey, hash, sign, verify, X509Certificate } from 'node:crypto'
import { cidOf, createVsync, readKeptEntry } from '#codecs/dict'
import { createXmlScanner } from '#codecs/xml'
import { issuerText, signWhole, verifyWhole } from '#codecs/xmldsig'
import { createDirectory } from '#src/simulators/directory/index.ts'
import { type IssuedPair, issueCertificate } from '../../support/pki.ts'

const [directoryPair, ownPair] = [issueCertificate('DICT'), issueCertificate('12345678')]
const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const scanner = createXmlScanner()
let nowMs = Date.parse('2026-11-01T12:00:00Z')

const directory = await createDirectory({
  signing: { certificate: directoryPair.cert, key: directoryPair.key },
  participantCertificates: { '12345678': [ownPair.cert] },
  category: 'H',
  now: () => nowMs,
})
afterAll(directory.stop)
beforeEach(() => directory.setFaults([]))

directory.register({
  key_type: 'EMAIL',
  key: 'joao@example.com',
  name: 'João Lima',
  tax_id: '98765432100',
  ispb: '99999A04',
  branch: '0001',
  account: '600200',
  account_type: 'CACC',
})

const headers = (payer = '12345678909', participant = '12345678') => ({
  'PI-RequestingParticipant': participant,
  'PI-PayerId': payer,
  'PI-EndToEndId': 'E12345678202611011200abcdefghijk',
  'Accept-Encoding': 'identity',
})
const look = (key: string, payer?: string, participant?: string) =>
  fetch(`${directory.url}/entries/${encodeURIComponent(key)}`, {
    headers: headers(payer, participant),
  })

const signedBy = async (pair: IssuedPair, xml: string): Promise<Uint8Array<ArrayBuffer>> => {
  const certificate = new X509Certificate(pair.cert)
  const signer = {
    issuer: issuerText(new Uint8Array(certificate.raw)),
    serial: pair.serial,
    id: 'k',
    sign: async (bytes: Uint8Array) => sign('sha256', bytes, createPrivateKey(pair.key)),
  }
  return signWhole(scanner.scan(Buffer.from(xml)), signer, sha256)
}

const isSigned = (text: string): boolean =>
  verifyWhole(scanner.scan(Buffer.from(text)), {
    sha256,
    findCertificate: (_, serial) =>
      serial === directoryPair.serial
        ? {
            valid: true,
            verify: (bytes, value) =>
              verify('sha256', bytes, new X509Certificate(directoryPair.cert).publicKey, value),
          }
        : undefined,
  }).ok

const problemIn = (text: string): string => /error\/(\w+)</.exec(text)?.[1] ?? text

const createBody = (
  key: string,
  requestId = crypto.randomUUID(),
  { name = 'Maria Souza', taxId = '12345678909', type = 'EMAIL', participant = '12345678' } = {},
) =>
  `<CreateEntryRequest><Entry>${key === '' ? '' : `<Key>${key}</Key>`}<KeyType>${type}</KeyType><Account><Participant>${participant}</Participant><AccountNumber>1</AccountNumber><AccountType>CACC</AccountType><OpeningDate>2020-01-01T03:00:00Z</OpeningDate></Account><Owner><Type>NATURAL_PERSON</Type><TaxIdNumber>${taxId}</TaxIdNumber><Name>${name}</Name></Owner></Entry><Reason>USER_REQUESTED</Reason><RequestId>${requestId}</RequestId></CreateEntryRequest>`

const post = async (path: string, xml: string, pair = ownPair, method = 'POST') => {
  const response = await fetch(`${directory.url}${path}`, {
    method,
    body: await signedBy(pair, xml),
    headers: { 'Content-Type': 'application/xml', 'Accept-Encoding': 'identity' },
  })
  return { status: response.status, text: await response.text() }
}
const create = (...args: Parameters<typeof createBody>) => post('/entries/', createBody(...args))

describe('a lookup', () => {
  test('is answered with a signed entry, that says how long it holds', async () => {
    const response = await look('joao@example.com')
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('private, max-age=60')
    expect(isSigned(text)).toBe(true)
    const document = scanner.scan(Buffer.from(text))
    expect(readKeptEntry(document, document.root)).toMatchObject({
      key: 'joao@example.com',
      owner: { name: 'João Lima', taxIdNumber: '98765432100' },
      account: { participant: '99999A04', accountNumber: '600200' },
    })
  })

  test.each([
    ['an unknown key', () => look('maria@example.com', '11144477735'), 404, 'NotFound'],
    ['what is no key', () => look('nobody'), 400, 'BadRequest'],
    ['no payer', () => look('joao@example.com', 'x'), 400, 'BadRequest'],
    [
      'a key that the asker keeps',
      () => look('joao@example.com', undefined, '99999A04'),
      400,
      'EntryCannotBeQueriedForBookTransfer',
    ],
  ] as const)('of %s is refused', async (_, ask, status, code) => {
    const response = await ask()
    expect([response.status, problemIn(await response.text())]).toEqual([status, code])
  })

  test('costs a token, twenty where nothing is found, and one comes back with a payment', async () => {
    const payer = '52998224725'
    const name = `ENTRIES_READ_USER_ANTISCAN 12345678 ${payer}`
    const left = () => directory.statistics().tokens[name]
    await look('joao@example.com', payer)
    expect(left()).toBe(99)
    expect(directory.orderSent('E12345678202611011200abcdefghijk')).toBe(true)
    expect(directory.orderSent('E12345678202611011200abcdefghijk')).toBe(false)
    expect(left()).toBe(100)
    for (let i = 0; i < 5; i++) await look('maria@example.com', payer)
    expect(left()).toBe(0)
    const refused = await look('joao@example.com', payer)
    expect([refused.status, problemIn(await refused.text())]).toEqual([429, 'RateLimited'])
    nowMs += 30_000
    expect((await look('joao@example.com', payer)).status).toBe(200)
  })

  test.each([
    ['unavailable', 503, false],
    ['rate_limited', 429, false],
    ['error_after_storing', 500, false],
    ['wrong_signature', 200, false],
    ['no_signature', 200, false],
    ['other_key', 200, true],
  ] as const)('meets the fault %s', async (kind, status, valid) => {
    nowMs += 3_600_000
    directory.setFaults([{ kind, times: 1 }])
    const response = await look('joao@example.com')
    expect(response.status).toBe(status)
    expect(response.headers.has('retry-after')).toBe(status === 503)
    const text = await response.text()
    if (status === 200) expect(isSigned(text)).toBe(valid)
    expect((await look('joao@example.com')).status).toBe(200)
  })
})

describe('an entry', () => {
  test('is made once for its RequestId', async () => {
    const id = crypto.randomUUID()
    const [first, again] = [await create('a@example.com', id), await create('a@example.com', id)]
    expect([first.status, again.status]).toEqual([201, 201])
    const other = await create('a@example.com', id, { name: 'Maria de Souza' })
    expect(problemIn(other.text)).toBe('RequestIdAlreadyUsed')
    expect(problemIn((await create('a@example.com')).text)).toBe('EntryAlreadyExists')
  })

  test.each([
    ['of another owner', 'joao@example.com', {}, 'EntryKeyOwnedByDifferentPerson'],
    [
      'kept elsewhere',
      'joao@example.com',
      { taxId: '98765432100' },
      'EntryKeyInCustodyOfDifferentParticipant',
    ],
    ['of another type', 'b@example.com', { type: 'PHONE' }, 'EntryInvalid'],
    ['a CPF of somebody else', '98765432100', { type: 'CPF' }, 'EntryTaxIdNumberByDifferentOwner'],
    ['an EVP of one’s own', crypto.randomUUID(), { type: 'EVP' }, 'EntryInvalid'],
    ['for another', 'c@example.com', { participant: '99999A04' }, 'RequestSignatureInvalid'],
  ])('%s is refused', async (_, key, more, code) => {
    const { status, text } = await create(key, undefined, more)
    expect([status, problemIn(text)]).toEqual([400, code])
  })

  test('without its signature is refused', async () => {
    const response = await fetch(`${directory.url}/entries/`, {
      method: 'POST',
      body: createBody('d@example.com'),
    })
    expect(problemIn(await response.text())).toBe('RequestSignatureInvalid')
  })

  test('is changed, found by its content, and taken out; the check of the set follows', async () => {
    const id = crypto.randomUUID()
    const made = await create('', id, { type: 'EVP' })
    const document = scanner.scan(Buffer.from(made.text))
    const entry = readKeptEntry(document, document.root)
    const cidFor = (changed: typeof entry): string =>
      cidOf(changed, Uint8Array.fromHex(id.replaceAll('-', '')), (key, message) =>
        createHmac('sha256', key).update(message).digest(),
      )
    const verdict = async (check: string): Promise<string> => {
      const xml = `<CreateSyncVerificationRequest><SyncVerification><Participant>12345678</Participant><KeyType>EVP</KeyType><ParticipantSyncVerifier>${check}</ParticipantSyncVerifier></SyncVerification></CreateSyncVerificationRequest>`
      const { text } = await post('/sync-verifications/', xml)
      return /<Result>(\w+)</.exec(text)?.[1] ?? text
    }
    expect(await verdict(cidFor(entry))).toBe('OK')
    const update = `<UpdateEntryRequest><Key>${entry.key}</Key><Account><Participant>12345678</Participant><AccountNumber>2</AccountNumber><AccountType>CACC</AccountType><OpeningDate>2020-01-01T03:00:00Z</OpeningDate></Account><Reason>BRANCH_TRANSFER</Reason></UpdateEntryRequest>`
    expect((await post(`/entries/${entry.key}`, update, ownPair, 'PUT')).status).toBe(200)
    expect(await verdict(cidFor(entry))).toBe('NOK')
    const changed = cidFor({ ...entry, account: { ...entry.account, accountNumber: '2' } })
    expect(await verdict(changed)).toBe('OK')
    const found = await fetch(`${directory.url}/cids/entries/${changed}`, { headers: headers() })
    expect(await found.text()).toContain(`<RequestId>${id}</RequestId>`)
    const remove = `<DeleteEntryRequest><Key>${entry.key}</Key><Participant>12345678</Participant><Reason>USER_REQUESTED</Reason></DeleteEntryRequest>`
    expect((await post(`/entries/${entry.key}/delete`, remove)).status).toBe(200)
    expect((await post(`/entries/${entry.key}/delete`, remove)).status).toBe(404)
    expect(await verdict(createVsync().hex())).toBe('OK')
  })
})

test('over TLS it takes nobody without a certificate of its authority', async () => {
  const authority = issueCertificate('AC', { authority: true })
  const site = issueCertificate('site', { issuer: authority, hosts: ['127.0.0.1'] })
  const client = issueCertificate('client', { issuer: authority })
  const secure = await createDirectory({
    tls: { cert: site.cert, key: site.key, clientCa: authority.cert },
  })
  try {
    const ask = (tls: object) =>
      fetch(`${secure.url}/entries/a`, { headers: headers(), tls: { ca: authority.cert, ...tls } })
        .then(({ status }) => status)
        .catch(() => 'no connection')
    expect(await ask({})).toBe('no connection')
    expect(await ask({ cert: client.cert, key: client.key })).toBe(400)
  } finally {
    await secure.stop()
  }
})
