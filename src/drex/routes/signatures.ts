import { z } from 'zod'
import {
  idParams,
  jsonValue,
  type Route,
  type RouteContract,
  refusedValue,
  route,
  text,
} from '#src/platform/http/index.ts'
import { drexErrors, networkErrors, signingErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import { hexToBytes } from '../evm/hex.ts'
import type { Signatures, Signed } from '../signatures/service.ts'
import { anyWallet, networkSchema } from './shared.ts'

const messageCharactersMax = 8_000
const typesMax = 32
const fieldsMax = 64

const nameForm = /^[A-Za-z_$][A-Za-z0-9_$]{0,99}$/
const name = z.string().regex(nameForm, 'must be a name')
/** The generator of the document tells nothing of the names of members, so we do. */
const named = { propertyNames: { pattern: nameForm.source } }

const messageSchema = z.strictObject({
  message: text(messageCharactersMax, { isMultiline: true }),
  encoding: z
    .enum(['utf8', 'hex'])
    .default('utf8')
    .meta({ description: '`hex`: the message is bytes, as `0x` and hexadecimal digits' }),
})

const typedDataSchema = z.strictObject({
  network: networkSchema.optional(),
  typed_data: z.strictObject({
    types: z
      .record(
        name,
        z
          .array(
            z.strictObject({
              name,
              type: z
                .string()
                .regex(/^[A-Za-z_$][A-Za-z0-9_$]{0,99}(\[\d{0,3}\]){0,3}$/, 'must be a type'),
            }),
          )
          .max(fieldsMax),
      )
      .meta(named),
    primaryType: name,
    domain: z.strictObject({
      name: text(200).optional(),
      version: text(200).optional(),
      chainId: z.union([
        z.int().nonnegative(),
        z.string().regex(/^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/),
      ]),
      verifyingContract: z
        .string()
        .regex(/^0x[0-9a-fA-F]{40}$/)
        .optional(),
      salt: z
        .string()
        .regex(/^0x[0-9a-fA-F]{64}$/)
        .optional(),
    }),
    message: z.record(name, jsonValue).meta(named),
  }),
})

const exampleTypedData = {
  typed_data: {
    types: { Statement: [{ name: 'text', type: 'string' }] },
    primaryType: 'Statement',
    domain: { name: 'Trilho', version: '1', chainId: 1 },
    message: { text: 'I own this wallet.' },
  },
}

const signedSchema = z.object({
  wallet_id: z.string(),
  address: z.string(),
  digest: z.string().meta({ description: 'The 32 bytes that are signed' }),
  signature: z.string().meta({ description: 'r, s and v: 65 bytes' }),
})

const errors = [...signingErrors, drexErrors.signer_unreachable]

const documents = {
  signMessage: {
    at: 'POST /v1/wallets/{id}/sign-message',
    scope: 'signatures:make',
    operation: 'signMessage',
    summary: 'Sign a message with a wallet',
    description: 'EIP-191, as `personal_sign`: such a signature is never that of a transaction.',
    params: idParams,
    exampleFrom: anyWallet,
    body: { 'application/json': messageSchema },
    bodyExamples: { text: { message: 'I own this wallet.' } },
    responses: { 200: { description: 'Signed', schema: signedSchema } },
    errors,
  },
  signTypedData: {
    at: 'POST /v1/wallets/{id}/sign-typed-data',
    scope: 'signatures:make',
    operation: 'signTypedData',
    summary: 'Sign typed data with a wallet',
    description:
      'EIP-712, as `eth_signTypedData_v4`. The domain must name the chain of the network. What lets somebody move money (a permit, an authorization, an order, anything for a token or its swap) needs `drex:transfer` too.',
    params: idParams,
    exampleFrom: {
      ...anyWallet,
      '/typed_data/domain/chainId': 'listNetworks#/networks/0/chain_id',
    },
    body: { 'application/json': typedDataSchema },
    bodyExamples: { mail: exampleTypedData },
    responses: { 200: { description: 'Signed', schema: signedSchema } },
    errors: [...errors, drexErrors.policy_refused, ...networkErrors],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const signatureRoutes = (signatures: Signatures): readonly Route[] => [
  route(documents.signMessage, async ({ params, body: { message, encoding }, caller }) => {
    const bytes = encoding === 'hex' ? bytesOf(message) : new TextEncoder().encode(message)
    return show(await signatures.signMessage(params.id, bytes, caller))
  }),
  route(
    documents.signTypedData,
    async ({ params: { id }, body: { typed_data: data, network }, caller }) => {
      requireCount(data.types)
      return show(await signatures.signTypedData(id, { data, network }, caller))
    },
  ),
]

const bytesOf = (hex: string): Uint8Array => {
  const message = 'must be 0x and an even number of hexadecimal digits'
  if (/^0x([0-9a-fA-F]{2})*$/.test(hex)) return hexToBytes(hex)
  throw refusedValue([{ pointer: '/message', rule: 'hex', message }])
}

const requireCount = (types: Readonly<Record<string, unknown>>): void => {
  if (Object.keys(types).length <= typesMax) return
  const message = `must be at most ${typesMax} types`
  throw refusedValue([{ pointer: '/typed_data/types', rule: 'count', message }])
}

const show = ({ wallet, digest, signature }: Signed): Response =>
  Response.json({
    wallet_id: wallet.id,
    address: checksumAddress(wallet.address),
    digest,
    signature,
  })
