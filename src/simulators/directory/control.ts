/** The simulator's own endpoints: faults, entries of others, payments made. Loopback only, JSON. */

import { z } from 'zod'
import { claimTypes, keyTypes } from '#codecs/dict'
import { ispbForm, taxIdForm } from '#codecs/taxpayer'
import { demandStruck, faultsBody, jsonIn } from '../counterparty.ts'
import { claimManners } from './claims-play.ts'
import { createDisputesControl, type Disputes, disputeEndpoints } from './disputes-control.ts'
import { type Fault, type FaultPlan, faultKinds, struckOperations } from './faults.ts'
import { Refusal } from './refusal.ts'

const setFaultsBody = faultsBody(faultKinds, {
  operation: z.enum(['lookup', 'write', 'claim']).optional(),
}).superRefine(demandStruck(struckOperations))

const person = {
  name: z.string().min(1).max(150),
  trade_name: z.string().min(1).max(100).optional(),
  tax_id: z.string().regex(taxIdForm),
}
const place = {
  ispb: z.string().regex(ispbForm),
  branch: z
    .string()
    .regex(/^\d{1,4}$/)
    .optional(),
  account: z.string().regex(/^[0-9A-Za-z]{1,20}$/),
  account_type: z.enum(['CACC', 'TRAN', 'SLRY', 'SVGS']).default('CACC'),
}

const entryBody = z.strictObject({
  key_type: z.enum(keyTypes),
  /** Absent of an EVP. */
  key: z.string().optional(),
  ...person,
  ...place,
  /** What the institution that keeps the key does about a claim; without it, nothing. */
  on_claim: z.enum(claimManners).optional(),
})

export type EntryBody = z.output<typeof entryBody>

const claimBody = z.strictObject({
  type: z.enum(claimTypes),
  key_type: z.enum(keyTypes),
  key: z.string(),
  ...person,
  ...place,
})

/** A claim by an institution that the simulator plays. */
export type ClaimBody = z.output<typeof claimBody>

const orderBody = z.strictObject({ end_to_end_id: z.string() })

type Control = (method: string, path: string, body: Uint8Array) => Response

export const createControl = (deps: {
  readonly faults: FaultPlan
  /** @returns the key */
  readonly register: (entry: EntryBody) => string
  /** False: nothing was looked up with this id. */
  readonly orderSent: (endToEndId: string) => boolean
  /** @returns its id. @throws Refusal */
  readonly claim: (claim: ClaimBody) => string
  readonly statistics: () => unknown
  readonly disputes: Disputes
}): Control => {
  const act = <T>(schema: z.ZodType<T>, body: Uint8Array, run: (value: T) => Response) =>
    run(schema.parse(jsonIn(body)))
  const dispute = createDisputesControl(deps.disputes)
  const other = (path: string, body: Uint8Array): Response => {
    const done = dispute(path, jsonIn(body))
    return done === undefined ? notFound() : Response.json(done, { status: 201 })
  }
  return told((method, path, body) => {
    switch (`${method} ${path}`) {
      case 'GET /simulator/faults':
        return Response.json(deps.faults.active())
      case 'PUT /simulator/faults':
      case 'POST /simulator/faults':
        return act(setFaultsBody, body, (faults) => {
          // A member that is absent is the same as one that is undefined.
          deps.faults.set(faults as readonly Fault[])
          return Response.json(deps.faults.active())
        })
      case 'POST /simulator/entries':
        return act(entryBody, body, (entry) =>
          Response.json({ key: deps.register(entry) }, { status: 201 }),
        )
      case 'POST /simulator/claims':
        return act(claimBody, body, (claim) =>
          Response.json({ claim_id: deps.claim(claim) }, { status: 201 }),
        )
      case 'POST /simulator/orders':
        return act(orderBody, body, ({ end_to_end_id: id }) =>
          Response.json({ known: deps.orderSent(id) }),
        )
      case 'GET /simulator/statistics':
        return Response.json(deps.statistics())
      default:
        return method === 'POST' ? other(path, body) : notFound()
    }
  })
}

/** Answers with the reason if a request is malformed, or the directory refuses it. */
const told =
  (control: Control): Control =>
  (...asked) => {
    try {
      return control(...asked)
    } catch (error) {
      if (error instanceof Refusal) return refused(error)
      if (error instanceof z.ZodError) return malformed(error)
      throw error
    }
  }

const refused = ({ code, title, message, status }: Refusal): Response =>
  Response.json({ error: code, title, detail: message }, { status })

const malformed = ({ issues }: z.ZodError): Response => {
  const problems = issues.map(({ path, message }) => ({ path, message }))
  return Response.json({ error: 'bad_request', problems }, { status: 400 })
}

const notFound = (): Response => Response.json({ error: 'not_found', endpoints }, { status: 404 })

const endpoints = [
  'GET|PUT /simulator/faults',
  'POST /simulator/entries',
  'POST /simulator/claims',
  'POST /simulator/orders',
  'GET /simulator/statistics',
  ...disputeEndpoints,
]
