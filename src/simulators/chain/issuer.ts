/** The central bank of an embedded chain: issues the currency, admits wallets, gives them money. */
import { demand } from './engine.ts'
import type { Chain } from './index.ts'

export type Issuer = {
  /** Address of the currency. */
  readonly token: string
  /** Admits a wallet and issues to it. @param cents hundredths of the currency */
  readonly fund: (wallet: string, cents: bigint) => Promise<void>
}

/** Any account may act here: the engine signs for it. */
const centralBank = `0x${'ba'.repeat(20)}`
const gas = '0x989680'
const receiptPollMs = 20
const receiptPollsMax = 500

type Receipt = { readonly status: string; readonly contractAddress: string | null }

/** Deploys `RetailCurrency`: the pilot's currency, with two decimals and authorised accounts. */
export const createIssuer = async (chain: Chain): Promise<Issuer> => {
  const [{ Interface }, { default: artifact }] = await Promise.all([
    import('ethers'),
    import('./contracts/generated/RetailCurrency.json'),
  ])
  const abi = new Interface(artifact.abi)
  await demand(chain, 'hardhat_impersonateAccount', centralBank)
  const terms = abi.encodeDeploy(['Real Digital', 'BRL', centralBank, centralBank])
  const deployed = await transact(chain, undefined, artifact.bytecode + terms.slice(2))
  const token = deployed.contractAddress
  if (token === null) throw new Error('the currency was not deployed')
  return {
    token,
    async fund(wallet, cents) {
      await transact(chain, token, abi.encodeFunctionData('enableAccount', [wallet]))
      await transact(chain, token, abi.encodeFunctionData('mint', [wallet, cents]))
    },
  }
}

const transact = async (chain: Chain, to: string | undefined, data: string): Promise<Receipt> => {
  const call = { from: centralBank, ...(to === undefined ? {} : { to }), data }
  const hash = await demand(chain, 'eth_sendTransaction', { ...call, gas: gas, gasPrice: '0x0' })
  await chain.mine()
  for (let poll = 0; poll < receiptPollsMax; poll++) {
    const receipt = (await demand(chain, 'eth_getTransactionReceipt', hash)) as Receipt | null
    if (receipt?.status === '0x1') return receipt
    if (receipt !== null) throw new Error('the central bank was refused')
    await Bun.sleep(receiptPollMs)
  }
  throw new Error('the central bank’s transaction was not mined')
}
