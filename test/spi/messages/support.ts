import type { NewMessage } from '#src/spi/messages/index.ts'

let serial = 0
/** A message with keys of its own. */
export const message = (over: Partial<NewMessage> = {}, at = new Date()): NewMessage => {
  const number = String(serial++)
  const endToEndId = `E00000001${number.padStart(23, '0')}`
  return {
    id: Bun.randomUUIDv7('hex', at),
    type: 'pacs.008',
    definition: 'pacs.008.spi.1.13',
    direction: 'INBOUND',
    status: 'PROCESSED',
    channel: 'PRIMARY',
    sourceIspb: '00038166',
    destinationIspb: '12345678',
    bizMsgIdr: `M00038166${number.padStart(23, '0')}`,
    resourceId: `UEm${number.padStart(29, '0')}`,
    errorCode: undefined,
    signature: 'VALID',
    warnings: [],
    transactions: [
      {
        endToEndId,
        instructionId: undefined,
        amountCents: 123456789012345678n,
        debtorIspb: '11111111',
        creditorIspb: '12345678',
        status: undefined,
      },
    ],
    xml: Buffer.from(`<Envelope n="${number}">ação</Envelope>`),
    ...over,
  }
}
