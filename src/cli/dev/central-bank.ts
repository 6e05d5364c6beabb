/** The message interface of `dev`: the central bank in this process, both channels, on loopback. */
import type { Environment } from '#src/platform/config/index.ts'
import {
  askGateway,
  callGateway,
  type Demo,
  type DemoGateway,
  type Feature,
} from '#src/platform/lifecycle/index.ts'
import {
  acceptingPsp,
  type CentralBank,
  createCentralBank,
  payingPsp,
} from '#src/simulators/central-bank/index.ts'
import { isSet } from './environment.ts'

export type DevCentralBank = {
  /** Settings that make the gateway use it. */
  readonly env: Environment
  /** Undefined when the user named another one. */
  readonly url: string | undefined
  /** The ISPB of the institution that the gateway plays. */
  readonly ispb: string
  /** Whether incoming payments are accepted at once, without anybody's decision. */
  readonly accepts: boolean
  /** Makes 99999A03 pay; undefined when the user named another bank. */
  readonly payIn: CentralBank['payIn'] | undefined
  /** Makes it read the code of a charge and pay that; undefined as well. */
  readonly payCode: CentralBank['payCode'] | undefined
  readonly stop: () => Promise<void>
}

const everyMs = 20
const timeoutMs = 15_000
const amountCents = 1_050
const refundCents = 300
const ispbDefault = '12345678'
/** Short, so that `dev` ends soon. */
const longPollMs = 1_000
const roles = 'INBOUND_PULL,WORKER,OUTBOUND_SEND'

/** Starts the bank, unless the user has set a message interface. */
export const startDevCentralBank = async (given: Environment): Promise<DevCentralBank> => {
  const ispb = isSet(given, 'ISPB') ? (given['ISPB'] ?? ispbDefault) : ispbDefault
  if (isSet(given, 'SPI_PRIMARY_URL') || isSet(given, 'SPI_SECONDARY_URL')) {
    return {
      env: {},
      url: undefined,
      ispb,
      accepts: false,
      payIn: undefined,
      payCode: undefined,
      stop: async () => {},
    }
  }
  const bank = await createCentralBank({ longPollMs: longPollMs })
  const env = { ISPB: ispb, SPI_PRIMARY_URL: bank.url, SPI_SECONDARY_URL: bank.secondaryUrl }
  const { url, payIn, payCode, stop } = bank
  const accepts = !isFalse(given['SPI_AUTO_ACCEPT'])
  return { env, url, ispb, accepts, payIn, payCode, stop }
}

/** False as settings spell it; a later check refuses other words. */
const isFalse = (value = ''): boolean => ['false', '0'].includes(value.toLowerCase())

/** All stages of the pipeline where there is a database to keep messages in; none otherwise. */
export const devRoles = (given: Environment, databaseUrl: string | undefined): Environment => {
  const hasDatabase =
    databaseUrl !== undefined || isSet(given, 'DATABASE_DSN') || isSet(given, 'DATABASE_DSN_FILE')
  return hasDatabase && !isSet(given, 'SPI_ROLES') ? { SPI_ROLES: roles } : {}
}

type Message = {
  readonly type: string
  readonly direction: string
  readonly status: string
}

/** The user may have taken some of them out of SPI_ROLES. */
const paymentStages = ['outbound', 'pull', 'worker']

/** Whether payments go out and are answered. */
export const canPay = (features: readonly Feature[]): boolean => {
  const running = new Set(features.map(({ name }) => name))
  return paymentStages.every((stage) => running.has(stage))
}

/** Rejects when the payment does not end as it should. */
export const sentDemo = async (
  gateway: DemoGateway,
  { ispb, payIn }: DevCentralBank,
  features: readonly Feature[],
): Promise<readonly Demo[]> =>
  payIn === undefined || !canPay(features) ? [] : [await payOut(gateway, ispb)]

/** Rejects when the payment, or what is given back of it, does not end as it should. */
export async function* receivedDemos(
  gateway: DemoGateway,
  { ispb, accepts, payIn }: DevCentralBank,
  features: readonly Feature[],
): AsyncGenerator<Demo> {
  if (payIn === undefined || !canPay(features)) return
  if (!accepts) throw new Error('with SPI_AUTO_ACCEPT=false they wait for your answer')
  const paidIn = payIn({ to: ispb, amountCents: BigInt(amountCents) })
  yield await received(gateway, paidIn)
  yield await givenBack(gateway, paidIn)
}

const payOut = async (gateway: DemoGateway, ispb: string): Promise<Demo> => {
  const url = `${gateway.httpUrl}/v1/spi/send`
  const { command, output } = await callGateway(gateway.apiKey, 'POST', url, paymentFrom(ispb))
  const { end_to_end_ids: ids } = JSON.parse(output) as {
    readonly end_to_end_ids: readonly string[]
  }
  const messages = await settled(gateway, ids[0] ?? '', 'OUTBOUND', 'pacs.008', 'ACCEPTED')
  const title = `A payment of 10.50 to ${acceptingPsp} is sent and accepted`
  return { title, command, output: `${output}\n${messages}` }
}

/** The receiver's answer is accepted by the central bank, too: only then is the money here. */
const received = async (gateway: DemoGateway, endToEndId: string): Promise<Demo> => {
  await settled(gateway, endToEndId, 'OUTBOUND', 'pacs.002', 'ACCEPTED')
  const url = `${gateway.httpUrl}/v1/messages/e2e/${endToEndId}`
  const title = `A payment of 10.50 from ${payingPsp} comes in and is accepted`
  return { title, ...(await callGateway(gateway.apiKey, 'GET', url)) }
}

/** A part of what was received is given back to the payer. */
const givenBack = async (gateway: DemoGateway, endToEndId: string): Promise<Demo> => {
  const url = `${gateway.httpUrl}/v1/pix/payments/${endToEndId}/refunds`
  const asked = { amount: refundCents, reason: 'MD06' }
  const { command, output } = await callGateway(gateway.apiKey, 'POST', url, asked)
  const messages = await settled(gateway, endToEndId, 'OUTBOUND', 'pacs.004', 'ACCEPTED')
  return {
    title: `3.00 of it are given back to ${payingPsp}`,
    command,
    output: `${output}\n${messages}`,
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

/** Everything about the payment, once the message has the status. */
export const settled = async (
  gateway: DemoGateway,
  endToEndId: string,
  direction: string,
  type: string,
  status: string,
): Promise<string> => {
  const url = `${gateway.httpUrl}/v1/messages/e2e/${endToEndId}`
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const response = await askGateway(url, {
      headers: { Authorization: `Bearer ${gateway.apiKey}` },
    })
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
