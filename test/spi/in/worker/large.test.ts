import { afterAll, expect, test } from 'bun:test'
import { createMessageScanner } from '#codecs/iso20022'
import type { Delivery } from '#src/platform/broker/index.ts'
import { nativeText } from '#src/platform/runtime/index.ts'
import { readInbound } from '../../../../src/spi/in/worker/read.ts'
import { createInboundReader, largeInboundBytesMin } from '../../../../src/spi/in/worker/reader.ts'
import {
  createEnvelopeSigner,
  createMessageVerifier,
  createNativeSigner,
} from '../../../../src/spi/out/signing/index.ts'
import { sliceEnvelope } from '../../../support/envelope.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { inbound, ispb, payment } from './support.ts'

const trusted = issueCertificate('Bank')
const moment = new Date()
const now = () => moment
const verifier = createMessageVerifier([trusted.cert], now)
const learnedVersions = new Set(['pacs.008 99.9'])
const about = { verifier, mustBeSigned: true, ispb, now, learnedVersions }
const reader = createInboundReader({ ...about, learning: true })
afterAll(reader.close)

const signed = async (xml: string, version = '1.13'): Promise<Uint8Array> => {
  const signer = await createNativeSigner(trusted.cert, trusted.key, 'node')
  const bytes = await createEnvelopeSigner(signer).sign(
    sliceEnvelope(xml, `https://www.bcb.gov.br/pi/pacs.008/${version}`),
  )
  signer.close()
  return new Uint8Array(bytes)
}

let offset = 0n
const deliveryOf = (value: Uint8Array): Delivery => {
  const { topic, key, headers = {} } = inbound('')
  return {
    topic,
    partition: 0,
    offset: offset++,
    key,
    value,
    headers,
    publishedAt: moment,
    attempt: 1,
  }
}

/** Without the id that each reading draws. */
const comparable = (read: Awaited<ReturnType<typeof reader.read>>) => {
  const { readMs: _, message, ...rest } = read
  const { id: _id, ...kept } = message
  return { ...rest, message: kept }
}

test('a large message is read in a thread as a small one is here', async () => {
  const xml = payment(Array.from({ length: 1_000 }, () => ({ amount: '1.05' })))
  const large = await signed(xml)
  const learned = await signed(xml.replaceAll('1.13', '99.9'), '99.9')
  expect(large.length).toBeGreaterThan(10 * largeInboundBytesMin)
  const forged = new Uint8Array(large)
  forged[large.length - 400] = (forged[large.length - 400] as number) ^ 1
  const cut = large.subarray(0, -1)
  const scanner = createMessageScanner(nativeText)
  const verdicts: unknown[] = []
  for (const value of [large, forged, cut, learned]) {
    const delivery = deliveryOf(value)
    const beside = reader.read(delivery)
    expect(beside).toBeInstanceOf(Promise)
    const read = await beside
    verdicts.push([read.message.status, read.message.signature])
    expect(read.message.warnings.filter(({ rule }) => rule === 'MsgDefIdr')).toEqual([])
    expect(comparable(read)).toEqual(comparable(readInbound(delivery, { ...about, scanner })))
  }
  expect(verdicts).toEqual([
    ['PROCESSED', 'VALID'],
    ['FAILED', 'INVALID'],
    ['FAILED', 'NOT_CHECKED'],
    ['PROCESSED', 'VALID'],
  ])
  verifier.replace([issueCertificate('Other').cert])
  expect((await reader.read(deliveryOf(large))).message.signature).toBe('INVALID')
})

test('a message is large from a certain size on', async () => {
  const padded = (length: number): Delivery => {
    const value = new Uint8Array(length).fill(0x20)
    value.set(Buffer.from(payment()))
    return deliveryOf(value)
  }
  expect(reader.read(padded(largeInboundBytesMin - 1))).not.toBeInstanceOf(Promise)
  expect(await reader.read(padded(largeInboundBytesMin))).toMatchObject({
    message: { status: 'FAILED', signature: 'ABSENT' },
  })
})
