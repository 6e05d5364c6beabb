/** What is refused of a payment is named by a member of the request, whatever the message calls it. */
import { afterAll, expect, test } from 'bun:test'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { createPayments, type PayeePorts } from '#src/spi/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase } from '../../support/database.ts'
import { fresh, ispb } from '../in/worker/support.ts'
import { noPayees } from './support.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

type Account = Awaited<ReturnType<NonNullable<PayeePorts['payee']>>>['entry']['account']
type Payable = Awaited<ReturnType<PayeePorts['readCode']>>

const theirs: Account = {
  participant: '99999010',
  branch: '0001',
  accountNumber: '600200',
  accountType: 'CACC',
}
const plain: Payable = {
  kind: 'static',
  key: 'joao@example.com',
  txid: undefined,
  amountCents: 1_050,
  isOpen: false,
  withdrawal: undefined,
}
const cash = { kind: 'troco', purchaseCents: 50, agent: 'AGTEC', facilitator: '99999010' } as const

const debtor = {
  name: 'Maria Souza',
  document: '12345678909',
  account_num: '500100',
  account_type: 'CACC',
}

const pay = async (
  body: object,
  {
    account = {},
    payable = {},
    looking = async () => {},
    caller: { key, record } = testKey('spi:send'),
    headers = {},
  }: {
    readonly account?: Partial<Account>
    readonly payable?: Partial<Payable>
    /** What the directory does first. */
    readonly looking?: () => Promise<void>
    readonly caller?: ReturnType<typeof testKey>
    readonly headers?: Readonly<Record<string, string>>
  } = {},
) => {
  const payments = createPayments({
    ispb,
    sql: database.sql,
    broker: { publishIn: async () => {} },
    revision: '5.11.1',
    payees: {
      ...noPayees,
      payee: async ({ key: asked }) => {
        await looking()
        return {
          endToEndId: fresh.endToEndId(),
          entry: {
            key: asked,
            owner: { name: 'João', taxIdNumber: '98765432100' },
            account: { ...theirs, ...account },
          },
          take: async () => {},
          paid: () => {},
        }
      },
      readCode: async () => ({ ...plain, ...payable }),
    },
  })
  const app = testApp(payments.routes ?? [], { keys: [record] })
  const response = await app.call('POST', '/v1/pix/payments', {
    key,
    headers,
    body: { debtor, ...body },
  })
  const json = (await response.json()) as {
    readonly amount?: string
    readonly code?: string
    readonly end_to_end_id?: string
    readonly errors?: readonly { readonly pointer: string }[]
  }
  return { ...json, status: response.status }
}

const byKey = { key: 'joao@example.com', amount: 1_050 }
const byCode = { qr_code: 'code' }
const account = {
  ispb: '99999010',
  document: '98765432100',
  account_num: '600200',
  account_type: 'CACC',
}

test.each([
  ['an account here, by key', byKey, { account: { participant: ispb } }, '/key'],
  ['an account here, by code', byCode, { account: { participant: ispb } }, '/qr_code'],
  ['an account here', { account: { ...account, ispb }, amount: 1 }, {}, '/account/ispb'],
  ['what the directory has wrong', byKey, { account: { accountNumber: '' } }, '/key'],
  [
    'a number that is none',
    { account: { ...account, document: '98765432199' }, amount: 1 },
    {},
    '/account/document',
  ],
  [
    'a payer that is none',
    { ...byKey, debtor: { ...debtor, document: '12345678900' } },
    {},
    '/debtor/document',
  ],
  ['an identifier of the code', byCode, { payable: { txid: '***' } }, '/qr_code'],
  ['a missing identifier of the code', byCode, { payable: { kind: 'dynamic' } }, '/qr_code'],
  ['cash of the code', byCode, { payable: { withdrawal: { ...cash, agent: 'NONE' } } }, '/qr_code'],
  ['no cash in a code', byCode, { payable: { amountCents: 50, withdrawal: cash } }, '/qr_code'],
  [
    'no cash in an amount',
    { ...byCode, amount: 50 },
    { payable: { amountCents: 50, withdrawal: cash } },
    '/amount',
  ],
] as const)('%s is refused where the request has it', async (_, body, ports, pointer) => {
  const { status, errors } = await pay(body, ports)
  expect([status, errors?.map((one) => one.pointer)]).toEqual([400, [pointer]])
})

test('a code that says an amount of nothing leaves it to the payer', async () => {
  const payable = { amountCents: 0 }
  expect(await pay({ ...byCode, amount: 700 }, { payable })).toMatchObject({
    status: 202,
    amount: '7.00',
  })
  expect(await pay(byCode, { payable })).toMatchObject({
    status: 400,
    errors: [{ pointer: '/amount', rule: 'required' }],
  })
})

test('a repetition that the directory refuses gets the answer that was given meanwhile', async () => {
  const caller = testKey('spi:send')
  const headers = { 'idempotency-key': 'twice' }
  let first: Awaited<ReturnType<typeof pay>> | undefined
  const looking = async () => {
    first = await pay(byKey, { caller, headers })
    throw new ApiError(httpErrors.not_found, 'No such key.')
  }
  const second = await pay(byKey, { caller, headers, looking })
  expect(first?.status).toBe(202)
  expect(second).toEqual(first as NonNullable<typeof first>)
})
