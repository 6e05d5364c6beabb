import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { createTransformer } from '#src/spi/api/transform/service.ts'
import {
  hasSharedData,
  readSharedData,
  sharedDataPath,
  skipReason,
} from '../../../support/shared-data.ts'

const transform = createTransformer()

const samples = hasSharedData
  ? ['pacs008', 'pacs002', 'pacs004'].flatMap((folder) =>
      readdirSync(sharedDataPath(`spi/${folder}`))
        .filter((name) => name.endsWith('.xml'))
        .map((name) => `spi/${folder}/${name}`),
    )
  : ['none']

const targets = { pacs008: 'pix_payment', pacs002: 'pix_status', pacs004: 'pix_return' } as const

describe.skipIf(!hasSharedData)(`official samples${skipReason}`, () => {
  test.each(samples)('%s', (path) => {
    const [, folder = 'pacs008', name = ''] = path.split('/')
    const outcome = transform({
      sourceFormat: undefined,
      targetFormat: undefined,
      message: readSharedData(path),
      options: { validate: false, enrich: true },
    })
    expect(outcome).toMatchObject({
      ok: true,
      targetFormat: targets[folder as keyof typeof targets],
    })
    expect(outcome.ok && JSON.parse(outcome.result)).toMatchObject({
      transaction_count: name.includes('_10_') ? 10 : 1,
    })
  })

  test('the first sample is the specification’s payment', () => {
    const outcome = transform({
      sourceFormat: 'pacs.008',
      targetFormat: 'pix_payment',
      message: readSharedData('spi/pacs008/pacs.008_CONTA_1_msg.xml'),
      options: { validate: false, enrich: false },
    })
    expect(outcome.ok && outcome.result).toBe(
      '{"end_to_end_id":"E9999901012341234123412345678900","amount":1000.00,"currency":"BRL","debtor":{"name":"Fulano da Silva","document":"*******0000"},"creditor":{"name":null,"document":"*******0000"},"transaction_count":1}',
    )
  })
})
