import { pacs008, shapedSignature } from '../test/support/messages.ts'

const encoder = new TextEncoder()

/** Its digests as base64 demands them: the last character of one has no bits to spare. */
const signature = shapedSignature.replaceAll('q=', 'A=')

/** A payment of one transaction, signed. */
export const singleMessage = (): Uint8Array => encoder.encode(pacs008({ signature }))

export const batchTransactions = 500

/** As many as a message of NORM priority carries. */
export const batchMessage = (): Uint8Array =>
  encoder.encode(
    pacs008({ signature, transactions: batchTransactions })
      .replace('>HIGH<', '>NORM<')
      .replace('>PAGPRI<', '>PAGAGD<'),
  )
