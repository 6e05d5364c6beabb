/** The central bank of an embedded chain: issues the currency, admits wallets, gives them money. */
import { demand, type Engine } from './engine.ts'

export type Issuer = {
  /** Address of the currency. */
  readonly token: string
  /** Admits a wallet and issues to it. @param cents hundredths of the currency */
  readonly fund: (wallet: string, cents: bigint) => Promise<void>
  /** In hundredths of the currency. */
  readonly balanceOf: (wallet: string) => Promise<bigint>
}

/** Any account may act here: the engine signs for it. */
const centralBank = `0x${'ba'.repeat(20)}`
const gas = '0x989680'
const receiptPollMs = 20
const receiptPollsMax = 500

type MinedEngine = Engine & { readonly mine: () => Promise<void> }

type Receipt = { readonly status: string; readonly contractAddress: string | null }

/**
 * Deploys the pilot's currency, with two decimals and authorised accounts, unless the chain has it from an earlier
 * start. Everybody may admit accounts and issue.
 */
export const createIssuer = async (chain: MinedEngine): Promise<Issuer> => {
  const [{ getCreateAddress, Interface }, { default: artifact }] = await Promise.all([
    import('ethers'),
    import('./contracts/generated/SandboxCurrency.json'),
  ])
  const abi = new Interface(artifact.abi)
  await demand(chain, 'hardhat_impersonateAccount', centralBank)
  const token = getCreateAddress({ from: centralBank, nonce: 0 }).toLowerCase()
  if ((await demand(chain, 'eth_getCode', token, 'latest')) === '0x') {
    const terms = abi.encodeDeploy(['Real Digital', 'BRL', centralBank, centralBank])
    await transact(chain, undefined, artifact.bytecode + terms.slice(2))
  }
  return {
    token,
    async fund(wallet, cents) {
      await transact(chain, token, abi.encodeFunctionData('enableAccount', [wallet]))
      await transact(chain, token, abi.encodeFunctionData('mint', [wallet, cents]))
    },
    async balanceOf(wallet) {
      const call = { to: token, data: abi.encodeFunctionData('balanceOf', [wallet]) }
      return BigInt(String(await demand(chain, 'eth_call', call, 'latest')))
    },
  }
}

const transact = async (
  chain: MinedEngine,
  to: string | undefined,
  data: string,
): Promise<Receipt> => {
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
