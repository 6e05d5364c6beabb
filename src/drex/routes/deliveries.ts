import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import { idParams, type Route, type RouteContract, route, text } from '#src/platform/http/index.ts'
import { bondDecimals, type Deliveries, priceDecimals } from '../agreements/deliveries.ts'
import { deliveryStatuses } from '../agreements/domain.ts'
import type { Of } from '../agreements/service.ts'
import { formatUnits } from '../domain.ts'
import { drexErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import { day, quantity } from '../templates/fields.ts'
import { requireWallet } from '../wallets/rights.ts'
import { changing, commonFields, readingRoutes, refusals, showCommon } from './agreements.ts'
import { once } from './once.ts'
import { addressSchema, networkSchema, walletsFrom } from './shared.ts'
import { receiverSchema } from './transfer-form.ts'

const path = '/v1/drex/deliveries'
const reasonMax = 140
const daySeconds = 86_400

/** Contracts keep it as a word; 2²⁵⁶ − 1 has 78 digits. */
const operationNumber = z
  .string()
  .regex(/^[1-9]\d{0,76}$/, 'must be a number of at most 77 digits, without leading zeros')

const bondFields = { acronym: text(20), code: text(20), maturity_date: day }

const createSchema = z.strictObject({
  contract: addressSchema.meta({ description: 'One of the template `bond_delivery`' }),
  operation_id: operationNumber.meta({ description: 'The same that the other side uses' }),
  part: z.enum(['seller', 'buyer']),
  wallet: addressSchema.meta({ description: 'Ours: it holds the bonds, or the money' }),
  counterparty: receiverSchema,
  bond: z.strictObject(bondFields),
  amount: quantity.meta({ description: 'Of bonds, with up to two fraction digits' }),
  unit_price: quantity.meta({ description: 'Of one bond, with up to eight fraction digits' }),
  network: networkSchema.optional(),
  reference: text(140).optional(),
})

const cancelSchema = z.strictObject({ reason: text(reasonMax, { charactersMin: 0 }).default('') })

const deliverySchema = z
  .object({
    delivery_id: z.string(),
    status: z.enum(deliveryStatuses),
    contract: z.string(),
    operation_id: z.string(),
    part: z.enum(['seller', 'buyer']),
    wallet: z.string(),
    counterparty: z.string(),
    bond: z.object({ ...bondFields, token: z.string(), id: z.string() }),
    amount: z.string(),
    unit_price: z.string(),
    price: z.string().meta({ description: 'What all of it costs, cut off at the cent' }),
    currency: z.string().meta({ description: 'The money’s contract' }),
    ...commonFields,
  })
  .meta({ id: 'BondDelivery' })

const documents = {
  createBondDelivery: {
    ...changing,
    at: 'POST /v1/drex/deliveries',
    operation: 'createBondDelivery',
    summary: 'Deliver bonds against payment',
    description:
      'Our side of it: lets the contract take the price, or the bonds, and commands the operation. Once the other side has commanded the same, both halves move or neither. `drex.delivery.changed` tells of each status.',
    idempotent: true,
    body: { 'application/json': createSchema },
    bodyExamples: {
      sale: {
        contract: '0x3333333333333333333333333333333333333333',
        operation_id: '20261123000001',
        part: 'seller',
        wallet: '0x1111111111111111111111111111111111111111',
        counterparty: '0x2222222222222222222222222222222222222222',
        bond: { acronym: 'LTN', code: '100000', maturity_date: '2031-01-01' },
        amount: '10.00',
        unit_price: '994.12345678',
      },
    },
    exampleFrom: {
      '/contract': 'listContracts?limit=1#/contracts/0/address',
      ...walletsFrom('', 'wallet', 'counterparty'),
    },
    responses: { 202: { description: 'Accepted', schema: deliverySchema } },
    errors: [...refusals, drexErrors.token_unusable, drexErrors.not_in_directory],
  },
  cancelBondDelivery: {
    ...changing,
    at: 'POST /v1/drex/deliveries/{id}/cancel',
    operation: 'cancelBondDelivery',
    summary: 'Take a delivery back',
    description:
      'At once while our command is not signed; afterwards on the chain, where only the side that commanded first may, until the other has. The contract decides: it is `cancelled` or `settled` once that has its confirmations.',
    params: idParams,
    exampleFrom: { id: 'listBondDeliveries?status=commanded#/deliveries/0/delivery_id' },
    idempotent: true,
    body: { 'application/json': cancelSchema },
    bodyExamples: { cancel: { reason: 'agreed by telephone' } },
    responses: { 202: { description: 'The delivery as it is now', schema: deliverySchema } },
    errors: [drexErrors.delivery_not_found, drexErrors.delivery_not_cancellable, ...refusals],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const deliveryRoutes = (deliveries: Deliveries, sql: Client): readonly Route[] => [
  route(documents.createBondDelivery, (asked) =>
    once(sql, asked, {
      status: 202,
      allow: (caller, { wallet }) => requireWallet(caller, wallet),
      prepare: ({ operation_id, unit_price, bond, ...request }, caller) => {
        const { maturity_date, ...named } = bond
        const maturity = Date.parse(maturity_date) / 1_000
        return deliveries.create(
          { ...request, number: operation_id, unitPrice: unit_price, bond: { ...named, maturity } },
          caller,
        )
      },
      show,
      audit: ({ id }) => ({ action: 'drex.delivery', object: id, outcome: 'accepted' }),
    }),
  ),
  ...readingRoutes<'delivery'>({
    path,
    agreements: deliveries,
    statuses: deliveryStatuses,
    parts: ['seller', 'buyer'],
    list: {
      operation: 'listBondDeliveries',
      summary: 'Deliveries against payment, newest first',
      name: 'deliveries',
    },
    read: {
      operation: 'getBondDelivery',
      summary: 'One delivery, its steps and what the contract told',
      description: 'The delivery',
      idFrom: 'listBondDeliveries#/deliveries/0/delivery_id',
      schemaId: 'WholeBondDelivery',
      notFound: drexErrors.delivery_not_found,
    },
    schema: deliverySchema,
    show,
  }),
  route(documents.cancelBondDelivery, (asked) =>
    once(sql, asked, {
      status: 202,
      allow: () => {},
      prepare: ({ reason }, caller) => deliveries.cancel(asked.params.id, reason, caller),
      show,
      audit: ({ id, state }) => ({
        action: 'drex.delivery.cancel',
        object: id,
        outcome: state.status,
      }),
    }),
  ),
]

const show = (delivery: Of<'delivery'>): z.infer<typeof deliverySchema> => {
  const { id, state, contract, part, wallet, terms } = delivery
  const { seller, buyer, acronym, code, maturity, money } = terms
  return {
    delivery_id: id,
    status: state.status as (typeof deliveryStatuses)[number],
    contract: checksumAddress(contract!),
    operation_id: terms.number,
    part,
    wallet: checksumAddress(wallet),
    counterparty: checksumAddress(part === 'seller' ? buyer : seller),
    bond: {
      acronym,
      code,
      maturity_date: dateOf(maturity),
      token: checksumAddress(terms.bond),
      id: terms.bondId,
    },
    amount: formatUnits(BigInt(terms.amount), bondDecimals),
    unit_price: formatUnits(BigInt(terms.unitPrice), priceDecimals),
    price: formatUnits(BigInt(terms.price), bondDecimals),
    currency: checksumAddress(money),
    ...showCommon(delivery),
  } as z.infer<typeof deliverySchema>
}

/** Maturities are midnights of UTC. */
const dateOf = (seconds: number): string =>
  new Date((seconds - (seconds % daySeconds)) * 1_000).toISOString().slice(0, 10)
