import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import { idParams, type Route, type RouteContract, route, text } from '#src/platform/http/index.ts'
import { lienStatuses } from '../agreements/domain.ts'
import type { LienAct, Liens } from '../agreements/liens.ts'
import type { Of } from '../agreements/service.ts'
import { formatUnits } from '../domain.ts'
import { drexErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import { amount, hash, instant } from '../templates/fields.ts'
import { requireWallet } from '../wallets/rights.ts'
import { changing, commonFields, readingRoutes, refusals, showCommon } from './agreements.ts'
import { once } from './once.ts'
import { addressSchema, networkSchema, walletsFrom } from './shared.ts'

const path = '/v1/drex/liens'

const createSchema = z
  .strictObject({
    owner_wallet: addressSchema,
    beneficiary: addressSchema,
    amount: amount.meta({ description: 'What is pledged at first' }),
    token: addressSchema.optional().meta({ description: 'The network’s currency when left out' }),
    expiry: instant.meta({ description: 'From then on the owner may take back what is left' }),
    document_hash: hash.meta({ description: 'Of the secured contract’s document' }),
    network: networkSchema.optional(),
    reference: text(140).optional(),
  })
  .refine(({ owner_wallet, beneficiary }) => owner_wallet !== beneficiary, {
    path: ['beneficiary'],
    message: 'must differ from owner_wallet',
  })

const adoptSchema = z.strictObject({
  contract: addressSchema.meta({ description: 'One of the template `lien`' }),
  wallet: addressSchema.meta({ description: 'The owner’s or the beneficiary’s' }),
  network: networkSchema.optional(),
  reference: text(140).optional(),
})

const actSchema = z
  .strictObject({
    act: z.enum(['pledge', 'release', 'reclaim']),
    amount: amount.optional().meta({ description: 'Of `pledge` and `release`, and only of these' }),
  })
  .refine(({ act, amount: sum }) => (act === 'reclaim') === (sum === undefined), {
    path: ['amount'],
    message: 'must be given with `pledge` and `release`, and only then',
  })

const lienSchema = z
  .object({
    lien_id: z.string(),
    status: z.enum(lienStatuses),
    contract: z.string().nullable().meta({ description: 'Null until it is on the chain' }),
    part: z.enum(['owner', 'beneficiary']),
    owner: z.string(),
    beneficiary: z.string(),
    token: z.string(),
    pledged: z.string().meta({ description: 'What secures the beneficiary now' }),
    expiry: z.iso.datetime(),
    document_hash: z.string(),
    ...commonFields,
  })
  .meta({ id: 'Lien' })

const documents = {
  createLien: {
    ...changing,
    at: 'POST /v1/drex/liens',
    operation: 'createLien',
    summary: 'Pledge tokens as security',
    description:
      'Deploys a contract of the template `lien`, has it admitted where the network’s directory knows who does that, and pledges. `drex.lien.changed` tells of each status.',
    idempotent: true,
    body: { 'application/json': createSchema },
    bodyExamples: {
      pledge: {
        owner_wallet: '0x1111111111111111111111111111111111111111',
        beneficiary: '0x2222222222222222222222222222222222222222',
        amount: '500.00',
        expiry: '2031-01-01T00:00:00Z',
      },
    },
    exampleFrom: walletsFrom('', 'owner_wallet', 'beneficiary'),
    responses: { 202: { description: 'Accepted', schema: lienSchema } },
    errors: [...refusals, drexErrors.token_unusable],
  },
  registerLien: {
    ...changing,
    at: 'POST /v1/drex/liens/adopt',
    operation: 'registerLien',
    summary: 'Follow a lien that another has made',
    description:
      'One of whose parties is a wallet of the account: as its beneficiary, to let go of it; as its owner, to take it back. Its code must be that of the template, and its terms are read from it.',
    idempotent: true,
    body: { 'application/json': adoptSchema },
    bodyExamples: {
      beneficiary: {
        contract: '0x3333333333333333333333333333333333333333',
        wallet: '0x2222222222222222222222222222222222222222',
      },
    },
    exampleFrom: {
      '/contract': 'listLiens?status=active&part=owner#/liens/0/contract',
      '/wallet': 'listLiens?status=active&part=owner#/liens/0/beneficiary',
    },
    responses: { 201: { description: 'The lien', schema: lienSchema } },
    errors: [drexErrors.lien_not_ready, ...refusals, drexErrors.token_unusable],
  },
  updateLien: {
    ...changing,
    at: 'POST /v1/drex/liens/{id}/acts',
    operation: 'updateLien',
    summary: 'Add to a lien, let go of it, or take it back',
    description:
      '`pledge`: the owner adds to it. `release`: the beneficiary lets go of a part or all. `reclaim`: from the expiry on, the owner takes back what is left.',
    params: idParams,
    exampleFrom: { id: 'listLiens?status=active&part=owner#/liens/0/lien_id' },
    idempotent: true,
    body: { 'application/json': actSchema },
    bodyExamples: { pledge: { act: 'pledge', amount: '10.00' } },
    responses: { 202: { description: 'The lien as it is now', schema: lienSchema } },
    errors: [
      drexErrors.lien_not_found,
      drexErrors.lien_not_ready,
      ...refusals,
      drexErrors.token_unusable,
    ],
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const lienRoutes = (liens: Liens, sql: Client): readonly Route[] => [
  route(documents.createLien, (asked) =>
    once(sql, asked, {
      status: 202,
      allow: (caller, { owner_wallet }) => requireWallet(caller, owner_wallet),
      prepare: ({ owner_wallet: owner, document_hash: documentHash, ...request }, caller) =>
        liens.create({ ...request, owner, documentHash }, caller),
      show,
      audit: ({ id }) => ({ action: 'drex.lien', object: id, outcome: 'accepted' }),
    }),
  ),
  // Before the route that would take `adopt` as an id.
  route(documents.registerLien, (asked) =>
    once(sql, asked, {
      status: 201,
      allow: (caller, { wallet }) => requireWallet(caller, wallet),
      prepare: liens.adopt,
      show,
      audit: ({ id }) => ({ action: 'drex.lien.adopt', object: id, outcome: 'followed' }),
    }),
  ),
  ...readingRoutes<'lien'>({
    path,
    agreements: liens,
    statuses: lienStatuses,
    parts: ['owner', 'beneficiary'],
    list: { operation: 'listLiens', summary: 'Liens, newest first', name: 'liens' },
    read: {
      operation: 'getLien',
      summary: 'One lien, its steps and what its contract told',
      description: 'The lien',
      idFrom: 'createLien#/lien_id',
      schemaId: 'WholeLien',
      notFound: drexErrors.lien_not_found,
    },
    schema: lienSchema,
    show,
  }),
  route(documents.updateLien, (asked) =>
    once(sql, asked, {
      status: 202,
      allow: () => {},
      prepare: (request, caller) => liens.act(asked.params.id, actOf(request), caller),
      show,
      audit: ({ id }) => ({ action: 'drex.lien.act', object: id, outcome: 'accepted' }),
    }),
  ),
]

const actOf = ({ act, amount: sum = '' }: z.output<typeof actSchema>): LienAct =>
  act === 'reclaim' ? { act } : { act, amount: sum }

const show = (lien: Of<'lien'>): z.infer<typeof lienSchema> => {
  const { id, state, contract, part, terms } = lien
  return {
    lien_id: id,
    status: state.status,
    contract: contract === undefined ? null : checksumAddress(contract),
    part,
    owner: checksumAddress(terms.owner),
    beneficiary: checksumAddress(terms.beneficiary),
    token: checksumAddress(terms.token),
    pledged: formatUnits(BigInt(state.pledged ?? '0'), terms.decimals),
    expiry: new Date((state.expiry ?? terms.expiry) * 1_000).toISOString(),
    document_hash: terms.documentHash,
    ...showCommon(lien),
  } as z.infer<typeof lienSchema>
}
