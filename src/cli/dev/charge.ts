/** A charge of the API Pix, from its making to its payment, for the start of `trilho dev`. */
import { randomBytes } from 'node:crypto'
import {
  callGateway,
  type Demo,
  type DemoGateway,
  type Feature,
} from '#src/platform/lifecycle/index.ts'
import { drawText } from '#src/qrcodes/index.ts'
import { payingPsp } from '#src/simulators/central-bank/index.ts'
import { canPay, type DevCentralBank } from './central-bank.ts'

const receiver = {
  key: '7d9f0335-8dcc-4054-9bf9-0dbd61d36906',
  tax_id: '12345678000195',
  name: 'Padaria São José',
  city: 'São Paulo',
} as const
const amountCents = 3_700n
const everyMs = 20
const timeoutMs = 15_000

/** Rejects when the charge is not paid as it should. */
export const chargeDemo = async (
  { apiKey, httpUrl, pixUrl = httpUrl }: DemoGateway & { readonly pixUrl?: string | undefined },
  { ispb, accepts, payIn, payCode }: DevCentralBank,
  features: readonly Feature[],
): Promise<readonly Demo[]> => {
  if (payIn === undefined || payCode === undefined) return []
  if (!(accepts && canPay(features))) return []
  const txid = randomBytes(16).toString('hex')
  const url = `${pixUrl}/pix/v2/cob/${txid}`
  await callGateway(apiKey, 'PUT', `${httpUrl}/v1/pix/receivers`, receiver)
  const { output } = await callGateway(apiKey, 'PUT', url, {
    calendario: { expiracao: 3600 },
    valor: { original: '37.00' },
    chave: receiver.key,
  })
  const { pixCopiaECola } = JSON.parse(output) as { readonly pixCopiaECola: string }
  const { key, tax_id: taxId } = receiver
  // A location that the user has named elsewhere may be out of reach.
  if (pixCopiaECola.includes(new URL(httpUrl).host)) {
    await payCode({ code: pixCopiaECola, receiver: { to: ispb, taxId } })
  } else payIn({ to: ispb, amountCents, charge: { txid, taxId, key } })
  const paid = await concluded(apiKey, url)
  const code = await drawText(pixCopiaECola)
  const title = `A charge of 37.00 has this code, which ${payingPsp} reads and pays`
  return [{ title, command: paid.command, output: `${code.trimEnd()}\n${paid.output}` }]
}

const concluded = async (
  apiKey: string,
  url: string,
): Promise<Pick<Demo, 'command' | 'output'>> => {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const shown = await callGateway(apiKey, 'GET', url)
    const { status } = JSON.parse(shown.output) as { readonly status: string }
    if (status === 'CONCLUIDA') return shown
    if (performance.now() > endMs) throw new Error(`the charge was not paid: ${shown.output}`)
    await Bun.sleep(everyMs)
  }
}
