/** Who is admitted to a currency, what of its balance is frozen, and where an institution takes wholesale currency. */
import { z } from 'zod'
import { findContract, requireContract } from '../directory.ts'
import { addressSchema } from '../evm/address.ts'
import { amount, cnpj8 } from '../templates/fields.ts'
import { callStep, defineOperation, type OperationPlace } from './definition.ts'

/** An account of a currency: the network's own if `token` is absent. */
const account = { wallet: addressSchema, token: addressSchema.optional() }
const frozen = z.strictObject({ ...account, amount })

export const enableAccount = defineOperation({
  params: z.strictObject(account),
  summary:
    'Admits a wallet to a currency: to the network’s own through the contract that the directory knows for it, where any admitted wallet may sign, else by the currency itself, where the signer needs its ACCESS_ROLE.',
  movesMoney: false,
  async steps({ wallet, token }, { chain, signer }) {
    const through =
      token === undefined ? await findContract(chain, 'RealDigitalEnableAccount') : undefined
    const to = through ?? token ?? chain.network.token
    const template = through === undefined ? 'currency' : 'account_access'
    return [await callStep(template, { sender: signer, to }, 'enableAccount', [wallet])]
  },
})

export const disableAccount = defineOperation({
  params: z.strictObject(account),
  summary:
    'Takes the admission away; the balance stays where it is. A wallet leaves the network’s currency by itself; another needs the ACCESS_ROLE.',
  movesMoney: false,
  async steps({ wallet, token }, { chain, signer }) {
    const through =
      token === undefined && wallet === signer
        ? await findContract(chain, 'RealDigitalEnableAccount')
        : undefined
    if (through !== undefined) {
      return [
        await callStep('account_access', { sender: signer, to: through }, 'disableAccount', []),
      ]
    }
    const to = token ?? chain.network.token
    return [await callStep('currency', { sender: signer, to }, 'disableAccount', [wallet])]
  },
})

const change =
  (name: 'increaseFrozenBalance' | 'decreaseFrozenBalance') =>
  async (params: z.output<typeof frozen>, { chain, signer, unitsOf }: OperationPlace) => {
    const to = params.token ?? chain.network.token
    const units = await unitsOf(to, params.amount, 'amount')
    return [await callStep('currency', { sender: signer, to }, name, [params.wallet, units])]
  }

export const freezeBalance = defineOperation({
  params: frozen,
  summary:
    'Freezes more of a wallet’s balance, up to what is available. The signer needs the currency’s FREEZER_ROLE.',
  movesMoney: false,
  steps: change('increaseFrozenBalance'),
})

export const unfreezeBalance = defineOperation({
  params: frozen,
  summary: 'Lets go of what was frozen, in parts or whole.',
  movesMoney: false,
  steps: change('decreaseFrozenBalance'),
})

export const changeDefaultAccount = defineOperation({
  params: z.strictObject({ cnpj8, wallet: addressSchema }),
  summary:
    'Hands an institution’s default wallet over to another. The signer is the present one; the first is named by the central bank.',
  movesMoney: false,
  async steps(params, { chain, signer }) {
    const to = await requireContract(chain, 'RealDigitalDefaultAccount')
    const args = [BigInt(params.cnpj8), params.wallet]
    return [await callStep('default_accounts', { sender: signer, to }, 'updateDefaultWallet', args)]
  },
})
