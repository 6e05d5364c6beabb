/**
 * "Try it out" of every operation: what the page at /docs fills in is sent as it stands. Before an operation that needs
 * something in a certain state (a transaction to capture, a transfer to approve) that is made, as a user would.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { JsonRpcProvider, Wallet } from 'ethers'
import { createKeyFileStore } from '#src/platform/security/index.ts'
import type { RunningDev } from '../support/running-dev.ts'
import { until } from '../support/until.ts'

type Operation = {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
}
type Body = { readonly name: string; readonly type: string; readonly value: unknown }
type Ask = (name: string, query: string) => Promise<unknown>

/** What the page itself runs; to the compiler every script of it is a text. */
const { asking, bodiesOf, pathOf, triedWith } = (await import(
  '../../src/platform/http/docs-page/schema.client.js'
)) as unknown as {
  readonly asking: (
    document: object,
    answers: ReadonlyMap<string, unknown>,
    read: (path: string) => Promise<unknown>,
  ) => Ask
  readonly bodiesOf: (document: object, operation: Operation) => readonly Body[]
  readonly pathOf: (document: object, path: string, operation: Operation, values: object) => string
  readonly triedWith: (
    operation: Operation,
    body: unknown,
    ask: Ask,
  ) => Promise<{ readonly parameters: object; readonly body: unknown }>
}

type Tried = { readonly method: string; readonly path: string; readonly operation: Operation }
type Json = Readonly<Record<string, never>>
type Made = {
  readonly dev: RunningDev
  readonly receiverUrl: string
  /** The answers to the tried operations. */
  readonly answers: Map<string, unknown>
}

/** What nothing here can be named to. */
const beyondThisMachine = [
  // The simulated central bank answers everything; its own tests leave one unanswered.
  ...['resendMessage', 'resolveMessage'],
  // A charge on the server of another institution, on the internet.
  'resolveQrCode',
  // No request makes a transaction that is held; its own tests decide about it.
  'resolveHeldTransaction',
  // No request lets a network tell of what is not known here; its own tests see to one.
  'resolveUnmatchedAdvice',
  // No request ends a business day; its own tests do.
  ...['listReconciliationMovements', 'resolveReconciliation'],
  // Another institution's to do, or about what another has begun; their own tests play both sides.
  ...['acknowledgeDirectoryClaim', 'confirmDirectoryClaim', 'completeDirectoryClaim'],
  ...['getInfractionReport', 'getRefundRequest'],
  ...['createInfractionReport', 'acknowledgeInfractionReport', 'closeInfractionReport'],
  ...['cancelInfractionReport', 'createRefundRequest', 'closeRefundRequest', 'cancelRefundRequest'],
  // The book and the simulated directory do not differ.
  'mendDirectoryDifference',
  // No request makes a dead letter, so there is none to name; their own test tries both.
  ...['retryDeadLetter', 'deleteDeadLetter'],
]

const post = async ({ dev }: Made, path: string, body: object, key = dev.key): Promise<Json> => {
  const response = await dev.call('POST', path, body, { Authorization: `Bearer ${key}` })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${text}`)
  return JSON.parse(text) as Json
}

const read = async ({ dev }: Made, path: string): Promise<Json | undefined> => {
  const response = await dev.call('GET', path)
  return response.ok ? ((await response.json()) as Json) : undefined
}

const isListed = async (made: Made, path: string, member: string): Promise<boolean> =>
  ((await read(made, path))?.[member] ?? []).length > 0

const paymentOf = (card_token: string, amount: number) => ({
  card_token,
  amount,
  currency: 'BRL',
  merchant_id: 'MERCHANT000001',
})

const authorized = async (made: Made): Promise<Json> =>
  post(made, '/v1/transactions/authorize', paymentOf('tok_visa_approved', 1_000))

/** The simulated network does not answer an authorization of this amount. */
const unansweredCents = 990_200

/** A wallet whose every transfer waits for another key. */
const strictWallet = async (made: Made): Promise<string> => {
  const wallet = await post(made, '/v1/wallets', { type: 'managed', label: 'strict' })
  const policy = { approval_above: '0.01' }
  await made.dev.call('PATCH', `/v1/wallets/${wallet['wallet_id']}`, { policy })
  return wallet['address'] ?? ''
}

const transferOf = (made: Made, from: string, amount: string) => ({
  from_wallet: from,
  to_wallet: made.dev.wallets[0],
  amount,
})

const held = async (made: Made): Promise<void> => {
  const from = await strictWallet(made)
  await post(made, '/v1/drex/transfers', transferOf(made, from, '2.00'))
}

/** A bond, and a contract that delivers it; the newest of the contracts. */
const bondDelivery = async (made: Made): Promise<void> => {
  const [signer_wallet] = made.dev.wallets
  const deploy = async (template: string, params: object): Promise<string> => {
    const { address = '' } = await post(made, '/v1/contracts/deploy', {
      template,
      params,
      signer_wallet,
    })
    await until(async () => {
      const { status } = (await read(made, `/v1/contracts/${address}`)) ?? {}
      return ['deployed', 'permitted'].includes(status ?? '')
    })
    return address
  }
  const bond = await deploy('tokenized_bond', { authority: signer_wallet })
  const data = { acronym: 'LTN', code: '100000', maturityDate: '1924992000' }
  await post(made, `/v1/contracts/${bond}/call`, {
    function: 'createTPFt',
    params: { data },
    signer_wallet,
  })
  const known = { function: 'getTPFtId', params: { data } }
  await until(async () => {
    const { result } = await post(made, `/v1/contracts/${bond}/call`, known)
    return result === '1'
  })
  await deploy('bond_delivery', { bond })
}

/** Nothing of the newest lien of an owner is under way. */
const isAtRest = async (made: Made): Promise<boolean> => {
  const { liens } = (await read(made, '/v1/drex/liens?status=active&part=owner')) ?? {}
  const [newest] = (liens ?? []) as readonly { readonly lien_id: string }[]
  if (newest === undefined) return false
  const { steps } = (await read(made, `/v1/drex/liens/${newest.lien_id}`)) ?? {}
  return ((steps ?? []) as readonly { readonly status: string }[]).every(({ status }) =>
    ['confirmed', 'cancelled'].includes(status),
  )
}

/** What must be there, or be so, before an operation is tried. */
const before: Readonly<Record<string, (made: Made) => Promise<unknown>>> = {
  captureTransaction: authorized,
  voidTransaction: authorized,
  incrementTransaction: authorized,
  resolveTransaction: (made) =>
    until(() => isListed(made, '/v1/transactions?needs_attention=true', 'transactions')),
  cancelTransfer: held,
  approveTransfer: held,
  retryTransfer: async (made) => {
    const { address = '' } = await post(made, '/v1/wallets', { type: 'managed', label: 'poor' })
    await post(made, '/v1/drex/transfers', transferOf(made, address, '5.00'))
    await until(() => isListed(made, '/v1/drex/transfers?status=failed', 'transfers'))
  },
  approveBatch: async (made) => {
    const transfers = [transferOf(made, await strictWallet(made), '2.00')]
    made.answers.set('createBatch', await post(made, '/v1/drex/batches', { transfers }))
  },
  createBondDelivery: bondDelivery,
  cancelBondDelivery: (made) =>
    until(() => isListed(made, '/v1/drex/deliveries?status=commanded', 'deliveries')),
  registerLien: (made) => until(() => isListed(made, '/v1/drex/liens?status=active', 'liens')),
  updateLien: (made) => until(() => isAtRest(made)),
  getMandate: async (made) => {
    const body = JSON.stringify({ to: made.dev.ispb })
    await fetch(`${made.dev.centralBankUrl}/simulator/mandate`, { method: 'POST', body })
    await until(() => isListed(made, '/v1/pix/mandates', 'mandates'))
  },
  signTypedData: (made) => post(made, '/v1/wallets', { type: 'managed', label: 'signs' }),
  getCharge: (made) => until(() => isListed(made, '/v1/pix/charges', 'charges')),
  listDeliveries: async (made) => {
    const { webhooks = [] } = (await read(made, '/v1/webhooks')) ?? {}
    const { id } = webhooks[0]!
    await made.dev.call('PATCH', `/v1/webhooks/${id}`, { events: ['card.*'] })
    await authorized(made)
    await until(() => isListed(made, `/v1/webhooks/${id}/deliveries`, 'deliveries'))
  },
}

/** A contract that somebody else has put on the chain, where gas costs nothing. */
const foreignContract = async ({ dev }: Made): Promise<string> => {
  const { drex_testnet: network } = JSON.parse(
    readFileSync(join(dev.state, 'networks.json'), 'utf8'),
  ) as { readonly drex_testnet: { readonly rpc_urls: readonly string[] } }
  const provider = new JsonRpcProvider(network.rpc_urls[0])
  const stranger = Wallet.createRandom(provider)
  // The code of the contract is one STOP.
  const data = '0x6001600c60003960016000f300'
  const sent = await stranger.sendTransaction({ data, gasPrice: 0, gasLimit: 100_000, type: 0 })
  let address: string | null = null
  // A provider that polls by itself may have a question under way when it is destroyed, which then fails in nobody's hands.
  await until(async () => {
    address = (await provider.getTransactionReceipt(sent.hash))?.contractAddress ?? null
    return address !== null
  })
  provider.destroy()
  return address ?? ''
}

/** Members of a body that the document cannot know, and no operation tells. */
const instead: Readonly<Record<string, (made: Made) => object | Promise<object>>> = {
  // The tests knock at nobody's door.
  createWebhook: ({ receiverUrl: url }) => ({ url }),
  registerContract: async (made) => ({ address: await foreignContract(made) }),
}

/** A second key of the account: nobody approves what the same key asked for. */
const secondKey = async ({ dev }: Made): Promise<string> => {
  const store = createKeyFileStore(join(dev.state, 'keys.json'), () => new Date())
  const { key } = await store.create({
    name: 'second',
    account: 'default',
    environment: 'test',
    grants: ['*'],
    expiresAt: undefined,
  })
  const headers = { Authorization: `Bearer ${key}` }
  await until(async () => (await dev.call('GET', '/v1/wallets', undefined, headers)).ok)
  return key
}

/** @returns what did not answer with a success that the document tells of */
export const tryAll = async (dev: RunningDev, receiverUrl: string): Promise<readonly string[]> => {
  const answers = new Map<string, unknown>()
  const made = { dev, receiverUrl, answers }
  const document = (await (await fetch(`${dev.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  }
  const all: Tried[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  // Its reversal is declined, so that somebody has to tell its end.
  const lost = paymentOf('tok_visa_void_declined', unansweredCents)
  const unanswered = dev.call('POST', '/v1/transactions/authorize', lost)
  const ask = asking(document, answers, (path: string) => read(made, path))
  const faults: string[] = []
  let approver: string | undefined

  const tryOne = async ({ method, path, operation }: Tried): Promise<void> => {
    const name = operation.operationId
    await before[name]?.(made)
    const bodies = bodiesOf(document, operation)
    for (const example of bodies.length > 0 ? bodies : [undefined]) {
      const { parameters, body } = await triedWith(operation, example?.value, ask)
      if (name in instead) Object.assign(body as object, await instead[name]?.(made))
      if (name.startsWith('approve')) approver ??= await secondKey(made)
      const response = await fetch(dev.url + pathOf(document, path, operation, parameters), {
        method: method.toUpperCase(),
        headers: {
          Authorization: `Bearer ${name.startsWith('approve') ? approver : dev.key}`,
          ...(example === undefined ? {} : { 'Content-Type': example.type }),
        },
        ...(example === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      if (response.ok && String(response.status) in operation.responses) {
        if (/[/+]json\b/.test(response.headers.get('content-type') ?? '')) {
          answers.set(name, JSON.parse(text))
        }
      } else {
        faults.push(`${name} ${example?.name ?? ''}: ${response.status} ${text.slice(0, 300)}`)
      }
    }
  }

  const wanted = all.filter(({ operation }) => !beyondThisMachine.includes(operation.operationId))
  const isLast = ({ method }: Tried) => method === 'delete'
  for (const one of wanted.filter((each) => !isLast(each))) await tryOne(one)
  await unanswered
  for (const one of wanted.filter(isLast)) await tryOne(one)
  return faults
}
