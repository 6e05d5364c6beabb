/** One payment out and one in, as a user's system would make and see them. */
import type { Demo, DemoGateway, Feature } from '#src/platform/lifecycle/index.ts'
import { acceptingPsp, payingPsp } from '#src/simulators/central-bank/index.ts'
import type { DevCentralBank } from './central-bank.ts'

const everyMs = 20
const timeoutMs = 15_000
const amountCents = 1_050

type Message = {
  readonly type: string
  readonly direction: string
  readonly status: string
}

/** The user may have taken some of them out of SPI_ROLES. */
const stages = ['outbound', 'pull', 'worker']

/** Rejects when a payment does not end as it should. */
export const paymentDemos = async (
  gateway: DemoGateway,
  { ispb, payIn }: DevCentralBank,
  features: readonly Feature[],
): Promise<readonly Demo[]> => {
  const running = new Set(features.map(({ name }) => name))
  if (payIn === undefined || !stages.every((stage) => running.has(stage))) return []
  return [
    await payOut(gateway, ispb),
    await received(gateway, payIn({ to: ispb, amountCents: BigInt(amountCents) })),
  ]
}

const payOut = async (gateway: DemoGateway, ispb: string): Promise<Demo> => {
  const url = `${gateway.httpUrl}/v1/spi/send`
  const body = JSON.stringify(paymentFrom(ispb))
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...authorization(gateway), 'Content-Type': 'application/json' },
    body,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`the payment was answered ${response.status}: ${text}`)
  const { end_to_end_ids: ids } = JSON.parse(text) as { readonly end_to_end_ids: readonly string[] }
  const messages = await settled(gateway, ids[0] ?? '', 'OUTBOUND', 'pacs.008', 'ACCEPTED')
  return {
    title: `A payment of 10.50 to ${acceptingPsp} is sent and accepted`,
    command: `curl -s -H 'Authorization: Bearer ${gateway.apiKey}' -H 'Content-Type: application/json' -d '${body}' ${url}`,
    output: `${text}\n${messages}`,
  }
}

/** The receiver's answer is accepted by the central bank, too: only then is the money here. */
const received = async (gateway: DemoGateway, endToEndId: string): Promise<Demo> => {
  const output = await settled(gateway, endToEndId, 'OUTBOUND', 'pacs.002', 'ACCEPTED')
  return {
    title: `A payment of 10.50 from ${payingPsp} comes in and is accepted`,
    command: `curl -s -H 'Authorization: Bearer ${gateway.apiKey}' ${gateway.httpUrl}/v1/messages/e2e/${endToEndId}`,
    output,
  }
}

const paymentFrom = (ispb: string) => ({
  message_type: 'PACS008',
  params: {
    local_instrument: 'MANU',
    transactions: [
      {
        amount: amountCents,
        purpose: 'IPAY',
        debtor: {
          ispb,
          name: 'Maria Souza',
          document: '12345678909',
          account_num: '500100',
          account_type: 'CACC',
        },
        creditor: {
          ispb: acceptingPsp,
          name: 'João Lima',
          document: '98765432100',
          account_num: '600200',
          account_type: 'CACC',
        },
      },
    ],
  },
})

const authorization = ({ apiKey }: DemoGateway) => ({ Authorization: `Bearer ${apiKey}` })

/** Everything about the payment, once the message has the status. */
const settled = async (
  gateway: DemoGateway,
  endToEndId: string,
  direction: string,
  type: string,
  status: string,
): Promise<string> => {
  const url = `${gateway.httpUrl}/v1/messages/e2e/${endToEndId}`
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const response = await fetch(url, { headers: authorization(gateway) })
    const text = await response.text()
    if (response.ok) {
      const { messages } = JSON.parse(text) as { readonly messages: readonly Message[] }
      const found = messages.find((one) => one.direction === direction && one.type === type)
      if (found?.status === status) return text
      if (found?.status === 'REJECTED') throw new Error(`the payment was rejected: ${text}`)
    }
    if (performance.now() > endMs) throw new Error(`the payment did not end in time: ${text}`)
    await Bun.sleep(everyMs)
  }
}
