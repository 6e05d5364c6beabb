import { pacs008, shapedSignature } from '../test/support/messages.ts'

const encoder = new TextEncoder()

/** The signature with valid base64: the last character of a digest has no bits to spare. */
export const validSignature = shapedSignature.replaceAll('q=', 'A=')

const names = [
  'Conceição &amp; Irmãos',
  'Ana',
  'Padaria São João Ltda',
  'José Antônio de Albuquerque e Silva Neto',
  'Mercado Livre',
  'Lu &amp; Cia',
  'Associação dos Moradores do Bairro Alto',
  'Rui Barbosa',
]

/** How many messages of one kind a benchmark goes through, one after the other. */
const messageCount = 64

/**
 * Varies a message as real ones differ: identifiers, amounts, names and accounts, some of another length; the value of
 * the signature and the name of its key; some payments have a text, some a key, others neither.
 */
export const variedBy = (text: string, index: number): string => {
  // The numbers have an order without a pattern, the same in every run.
  const number = (Math.imul(index + 1, 0x9e3779b1) ^ 0x5bd1e995) >>> 0
  const digits = (count: number) => String(number).repeat(4).slice(0, count)
  return text
    .replaceAll('aB3dE5gH7jK9mN1pQ3sT5vW', `${digits(12)}aB3dE5gH7jK`)
    .replaceAll(/(?<=<EndToEndId>E\d{20})\d{8}/g, digits(8))
    .replaceAll(/(?<=>)1\d\d\d\.50/g, `${1 + (number % 10 ** (1 + (index % 7)))}.50`)
    .replaceAll('Conceição &amp; Irmãos', names[index % names.length] ?? '')
    .replaceAll('500100', digits(4 + (index % 6)))
    .replaceAll('Pedido 42', `Pedido ${number >>> (index % 24)}`)
    .replaceAll('"key"', `"key-${digits(8 + (index % 3))}"`)
    .replaceAll('#key"', `#key-${digits(8 + (index % 3))}"`)
    .replace('Zm9v'.repeat(4), digits(16))
    .replaceAll(index % 2 === 0 ? /<RmtInf>.*?<\/RmtInf>/g : '', '')
    .replaceAll(index % 4 > 1 ? /<Prxy>.*?<\/Prxy>/g : '', '')
}

export const varied = (text: string): readonly string[] =>
  Array.from({ length: messageCount }, (_, index) => variedBy(text, index))

/** Signed payments of one transaction each. */
export const singleMessages = (): readonly Uint8Array[] =>
  varied(pacs008({ signature: validSignature })).map((text) => encoder.encode(text))

/** Does the work on one message after the other, each time from the first on, and sums up the results. */
export const overAll =
  (messages: readonly Uint8Array[], work: (xml: Uint8Array) => number) =>
  (times: number): number => {
    let sum = 0
    for (let i = 0; i < times; i++) sum += work(messages[i % messages.length] as Uint8Array)
    return sum
  }

export const batchTransactions = 500

/** A message with as many transactions as NORM priority allows, each different. */
export const batchMessage = (): Uint8Array => {
  let index = 0
  const message = pacs008({ signature: validSignature, transactions: batchTransactions })
    .replace('>HIGH<', '>NORM<')
    .replace('>PAGPRI<', '>PAGAGD<')
    .replaceAll(/<CdtTrfTxInf>.*?<\/CdtTrfTxInf>/g, (transaction) => variedBy(transaction, index++))
  return encoder.encode(message)
}
