/** Reserves become wholesale currency of the signer, and the reverse. */
import { z } from 'zod'
import { requireContract } from '../directory.ts'
import { amount } from '../templates/fields.ts'
import { callStep, defineOperation, type OperationPlace } from './definition.ts'

const params = z.strictObject({ amount })

const request =
  (name: 'requestToMint' | 'requestToBurn') =>
  async (given: z.output<typeof params>, { chain, signer, unitsOf }: OperationPlace) => {
    const to = await requireContract(chain, 'STR')
    const units = await unitsOf(chain.network.token, given.amount, 'amount')
    return [await callStep('reserve_transfer', { sender: signer, to }, name, [units])]
  }

export const requestMint = defineOperation({
  params,
  summary: 'Asks the STR to make currency of the signer out of reserves.',
  movesMoney: true,
  steps: request('requestToMint'),
})

export const requestBurn = defineOperation({
  params,
  summary: 'Asks the STR to make reserves out of the signer’s currency.',
  movesMoney: true,
  steps: request('requestToBurn'),
})
