/** One transfer through the public interface, for the start of `trilho dev`. */
import { askGateway, curlOf, type Demo, type DemoGateway } from '#src/platform/lifecycle/index.ts'

/** Labels of the two wallets that `dev` makes and funds. */
const [fromLabel, toLabel] = ['demo-a', 'demo-b'] as const
const waitMs = 15_000
const pollMs = 100

export const demonstrate = async ({ httpUrl, apiKey }: DemoGateway): Promise<Demo> => {
  const call = async (method: string, path: string, body?: string): Promise<string> => {
    const response = await askGateway(`${httpUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`digital currency demo: ${method} ${path}: ${text}`)
    return text
  }
  const from = await addressOf(call, fromLabel)
  const to = await addressOf(call, toLabel)
  const body = JSON.stringify({
    from_wallet: from,
    to_wallet: to,
    amount: '150.00',
    reference: 'demo',
  })
  const output = await call('POST', '/v1/drex/transfers', body)
  const created = JSON.parse(output) as { transfer_id: string }
  const deadline = performance.now() + waitMs
  for (;;) {
    const now = await call('GET', `/v1/drex/transfers/${created.transfer_id}`)
    const { status, tx_hash } = JSON.parse(now) as { status: string; tx_hash: string }
    if (status === 'confirmed') {
      const title = `A transfer of digital currency, by now confirmed as ${tx_hash}`
      return { title, command: command(httpUrl, apiKey, body), output }
    }
    if (status === 'failed' || status === 'reverted' || performance.now() > deadline) {
      throw new Error(`digital currency demo: the transfer is ${status}: ${now}`)
    }
    await Bun.sleep(pollMs)
  }
}

const addressOf = async (
  call: (method: string, path: string) => Promise<string>,
  label: string,
): Promise<string> => {
  const { wallets } = JSON.parse(await call('GET', '/v1/wallets?limit=200')) as {
    wallets: readonly { readonly label: string; readonly address: string }[]
  }
  const wallet = wallets.find((each) => each.label === label)
  if (wallet === undefined) throw new Error(`digital currency demo: no wallet is called ${label}`)
  return wallet.address
}

const command = (httpUrl: string, apiKey: string, body: string): string =>
  [
    `${curlOf(httpUrl)} -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json'`,
    `-d '${body}' ${httpUrl}/v1/drex/transfers`,
  ].join(' ')
