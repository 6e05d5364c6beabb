import { pacs008, shapedSignature } from '../test/support/messages.ts'

const encoder = new TextEncoder()

/** Its digests as base64 demands them: the last character of one has no bits to spare. */
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

/** Messages of one kind that a benchmark goes through, one after the other. */
const messageCount = 64

/**
 * As real ones differ from one another: identifiers, amounts, names and accounts, some of other length; the
 * signature's value and its key's name; one payment with a text and one with a key, another without.
 */
export const variedBy = (text: string, index: number): string => {
  // Numbers in an order of no pattern, the same in every run.
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

/** Messages of one kind, each different. */
export const varied = (text: string): readonly string[] =>
  Array.from({ length: messageCount }, (_, index) => variedBy(text, index))

/** Payments of one transaction, signed. */
export const singleMessages = (): readonly Uint8Array[] =>
  varied(pacs008({ signature: validSignature })).map((text) => encoder.encode(text))

/** Work on one message after the other, from the first on each time it is asked for; the sum of what it gives. */
export const overAll =
  (messages: readonly Uint8Array[], work: (xml: Uint8Array) => number) =>
  (times: number): number => {
    let sum = 0
    for (let i = 0; i < times; i++) sum += work(messages[i % messages.length] as Uint8Array)
    return sum
  }

export const batchTransactions = 500

/** As many as a message of NORM priority carries, each different. */
export const batchMessage = (): Uint8Array => {
  let index = 0
  const message = pacs008({ signature: validSignature, transactions: batchTransactions })
    .replace('>HIGH<', '>NORM<')
    .replace('>PAGPRI<', '>PAGAGD<')
    .replaceAll(/<CdtTrfTxInf>.*?<\/CdtTrfTxInf>/g, (transaction) => variedBy(transaction, index++))
  return encoder.encode(message)
}
