/** An exchange of retail money between two institutions in two steps: the one proposes, the other accepts. */
import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { requireContract } from '../directory.ts'
import { addressSchema } from '../evm/address.ts'
import { proposalOf } from '../evm/swap-log.ts'
import { encodeApprove } from '../evm/token-call.ts'
import { amount } from '../templates/fields.ts'
import { callStep, defineOperation } from './definition.ts'

const contract = 'SwapTwoStepsReserve'
const reasonMax = 140
/** Contracts count their proposals; 2²⁵⁶ − 1 has 78 digits. */
const proposalId = z.string().regex(/^[1-9]\d{0,76}$/, 'must be the number of a proposal')

export const proposeSwap = defineOperation({
  params: z.strictObject({
    sender_token: addressSchema,
    receiver_token: addressSchema,
    receiver: addressSchema,
    amount,
    reserve_wallet: addressSchema,
  }),
  summary:
    'Proposes an exchange of retail money between two institutions: allows the contract to take the signer’s retail money and the reserve of its institution, and puts both there until the receiver accepts.',
  movesMoney: true,
  resultOf({ logs }, call) {
    const proposal = proposalOf(logs, call)
    return proposal === undefined ? undefined : { proposal_id: proposal.toString() }
  },
  async steps(params, { chain, signer, signerOf, unitsOf }) {
    const to = await requireContract(chain, contract)
    const reserve = await signerOf(params.reserve_wallet, 'reserve_wallet')
    const { sender_token: sent, receiver_token: received } = params
    const units = await unitsOf(sent, params.amount, 'amount')
    const data = encodeApprove(to, units)
    const args = [sent, received, params.receiver, units]
    return [
      { kind: 'approve', sender: reserve, recipient: chain.network.token, data },
      { kind: 'approve', sender: signer, recipient: sent, data },
      {
        ...(await callStep('reserve_swap', { sender: signer, to }, 'startSwap', args)),
        kind: 'propose',
      },
    ]
  },
})

export const acceptSwap = defineOperation({
  params: z.strictObject({ proposal_id: proposalId }),
  summary:
    'Accepts an exchange that was proposed to the signer, within its time. It has failed if the contract tells of no exchange: then the proposal had expired, and what was put there went back.',
  movesMoney: true,
  async steps(params, { chain, signer }) {
    const to = await requireContract(chain, contract)
    const args = [BigInt(params.proposal_id)]
    return [
      {
        ...(await callStep('reserve_swap', { sender: signer, to }, 'executeSwap', args)),
        kind: 'accept',
      },
    ]
  },
})

export const cancelSwap = defineOperation({
  params: z.strictObject({ proposal_id: proposalId, reason: text(reasonMax).default('') }),
  summary: 'Takes an exchange back, or refuses it: what was put there goes back.',
  movesMoney: true,
  async steps(params, { chain, signer }) {
    const to = await requireContract(chain, contract)
    const args = [BigInt(params.proposal_id), params.reason]
    return [await callStep('reserve_swap', { sender: signer, to }, 'cancelSwap', args)]
  },
})
