import { afterEach, expect, test } from 'bun:test'
import { createPublicKey, hash, sign, verify, X509Certificate } from 'node:crypto'
import {
  buildMessage,
  createRandomText,
  messageVocabulary,
  ourCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { issuerText, prepareKeyInfo, signEnvelope, verifyEnvelope } from '#codecs/xmldsig'
import {
  acceptingPsp,
  type CentralBank,
  createCentralBank,
} from '../../../src/simulators/central-bank/index.ts'
import { createParticipant, transfer } from '../../support/participant.ts'
import { type IssuedPair, issueCertificate } from '../../support/pki.ts'

const bankA = '11111111'
const bankB = '22222222'
const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
let bank: CentralBank | undefined

afterEach(async () => {
  await bank?.stop()
  bank = undefined
})

/** bankA payment signed as a participant signs, or not at all. */
const signedPayment = async (from: string, pair: IssuedPair | undefined): Promise<Uint8Array> => {
  const params = { local_instrument: 'MANU', transactions: [transfer(from, acceptingPsp, 100)] }
  const random = createRandomText((bytes) => crypto.getRandomValues(bytes))
  const context = { ispb: from, nowMs: Date.now(), random, revision: '5.11.1' } as const
  const built = buildMessage('PACS008', params, context)
  if (!built.ok) throw new Error(JSON.stringify(built.problems))
  if (pair === undefined) return built.message.bytes
  const certificate = new X509Certificate(pair.cert)
  const issuer = issuerText(new Uint8Array(certificate.raw))
  const keyInfo = prepareKeyInfo(issuer, pair.serial, 'key-1', sha256)
  return signEnvelope(built.message, keyInfo, sha256, async (bytes) =>
    sign('sha256', bytes, pair.key),
  )
}

test('messages must carry their sender’s own signature where certificates are known', async () => {
  const [own, other, stranger] = ['a', 'b', 'c'].map((name) => issueCertificate(name))
  if (own === undefined || other === undefined) throw new Error('no certificates')
  bank = await createCentralBank({
    longPollMs: 100,
    participantCertificates: { [bankA]: [own.cert], [bankB]: [other.cert] },
  })
  const a = createParticipant(bank.url, bankA)
  const good = await signedPayment(bankA, own)
  const tampered = Buffer.from(Buffer.from(good).toString().replace('>1.00<', '>9.00<'))
  const cases = [
    tampered,
    await signedPayment(bankA, undefined),
    await signedPayment(bankA, stranger),
    await signedPayment(bankA, other),
    good,
  ]
  for (const message of cases) await a.send(message)
  const answers = await a.receive(cases.length)
  const reasons = answers.map(({ type, xml }) => /<RjctgPtyRsn>(.*?)</.exec(xml)?.[1] ?? type)
  expect(reasons.sort()).toEqual(['pacs.002', 'schema', 'signature', 'signature', 'signature'])
  expect(answers.map(({ xml }) => xml).join()).toContain('não é o mesmo da Assinatura XML')
  expect(bank.book().operations.map(({ amountCents }) => amountCents)).toEqual([100n])
})

test('what a signing bank sends is valid whole and verifies', async () => {
  const pair = issueCertificate('bank')
  bank = await createCentralBank({
    longPollMs: 100,
    signing: { certificate: pair.cert, key: pair.key },
  })
  const a = createParticipant(bank.url, bankA)
  const b = createParticipant(bank.url, bankB)
  bank.payIn({ to: bankB, amountCents: 7n })
  await a.send(Buffer.from('<a/>'))
  await a.send(await signedPayment(bankA, undefined))
  const received = [...(await b.receive()), ...(await a.receive(2))]
  expect(received.map(({ type }) => type).sort()).toEqual(['admi.002', 'pacs.002', 'pacs.008'])
  const publicKey = createPublicKey(pair.cert)
  for (const { bytes, xml } of received) {
    const document = scanner.scan(bytes)
    const [, type = '', version = ''] = /xmlns="[^"]*\/pi\/([^/"]*)\/([^"]*)"/.exec(xml) ?? []
    const schema = ourCatalogue.schemaOf(type, version)
    if (schema === undefined) throw new Error('no schema')
    expect(validateDocument(schema, document).violations).toEqual([])
    const verdict = verifyEnvelope(document, {
      sha256,
      findCertificate: (_, serial) =>
        serial === pair.serial
          ? {
              valid: true,
              verify: (signedInfo, signature) => verify('sha256', signedInfo, publicKey, signature),
            }
          : undefined,
    })
    expect(verdict.ok).toBe(true)
  }
})
