import { expect, test } from 'bun:test'
import { createTransformer } from '#src/spi/api/transform/service.ts'
import { pacs002, utf8 } from '../../../support/messages.ts'

const transform = createTransformer()

const outcomeOf = (status: string) =>
  transform({
    sourceFormat: 'pacs.002',
    targetFormat: 'pix_status',
    message: utf8(
      pacs002(
        `<TxInfAndSts><OrgnlInstrId>E1</OrgnlInstrId><OrgnlEndToEndId>E1</OrgnlEndToEndId><TxSts>${status}</TxSts></TxInfAndSts>`,
      ),
    ),
    options: { validate: false, enrich: false },
  })

test.each([
  ['ACSP', true],
  ['ACSC', true],
  ['ACCC', true],
  ['RJCT', false],
])('%s tells whether what it answers is accepted: %p', (status, accepted) => {
  const outcome = outcomeOf(status)
  expect(outcome.ok && JSON.parse(outcome.result)).toMatchObject({ status, accepted })
})

test.each(['PDNG', 'rjct', ' RJCT', 'RJCT\n', 'ACSP ', 'toString', ''])(
  '%p tells neither, and is no status of the view',
  (status) => {
    expect(outcomeOf(status)).toMatchObject({
      ok: false,
      failure: {
        kind: 'violations',
        violations: [
          { path: '/Envelope/Document/FIToFIPmtStsRpt/TxInfAndSts/TxSts', rule: 'enum' },
        ],
      },
    })
  },
)
