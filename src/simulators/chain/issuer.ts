/** The central bank of an embedded chain: issues the currency, admits wallets, gives them money, keeps the directory. */
import { demand, type Engine } from './engine.ts'

export type Issuer = {
  /** Address of the currency. */
  readonly token: string
  /** Address of the directory of the pilot's further contracts. */
  readonly directory: string
  /** Names the wallet of an institution, unless it has one. @param cnpj8 the first eight digits of its CNPJ */
  readonly nameInstitution: (cnpj8: string, wallet: string) => Promise<void>
  /** Admits a wallet and issues to it. @param cents hundredths of the currency */
  readonly fund: (wallet: string, cents: bigint) => Promise<void>
  /** In hundredths of the currency. */
  readonly balanceOf: (wallet: string) => Promise<bigint>
}

/** Any account may act here: the engine signs for it. */
const centralBank = `0x${'ba'.repeat(20)}`
/** Makes the directory and nothing else, so that its address is the same whatever the chain has had before. */
const registrar = `0x${'bb'.repeat(20)}`
/** Cents: the most that one request converts. */
const requestMax = 10n ** 15n
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
  const [{ getCreateAddress, id, Interface }, { default: artifact }] = await Promise.all([
    import('ethers'),
    import('./contracts/generated/SandboxCurrency.json'),
  ])
  const abi = new Interface(artifact.abi)
  await demand(chain, 'hardhat_impersonateAccount', centralBank)
  const token = getCreateAddress({ from: centralBank, nonce: 0 }).toLowerCase()
  if (!(await hasCode(chain, token))) {
    const terms = abi.encodeDeploy(['Real Digital', 'BRL', centralBank, centralBank])
    await transact(chain, undefined, artifact.bytecode + terms.slice(2))
  }
  const directory = getCreateAddress({ from: registrar, nonce: 0 }).toLowerCase()
  const known = await directoryOf(chain, directory, token)
  const address = async (to: string, data: string) =>
    `0x${String(await demand(chain, 'eth_call', { to, data }, 'latest')).slice(26)}`
  const find = (name: string) =>
    address(directory, known.encodeFunctionData('addressDiscovery', [id(name)]))
  const mover = [id('MOVER_ROLE'), await find('STR')]
  const granted = await demand(
    chain,
    'eth_call',
    { to: token, data: abi.encodeFunctionData('hasRole', mover) },
    'latest',
  )
  if (BigInt(String(granted)) === 0n) {
    await transact(chain, token, abi.encodeFunctionData('grantRole', mover))
  }
  return {
    token,
    directory,
    async nameInstitution(cnpj8, wallet) {
      const accounts = new Interface([
        'function defaultAccount(uint256) view returns (address)',
        'function addDefaultAccount(uint256, address)',
      ])
      const to = await find('RealDigitalDefaultAccount')
      const present = await address(to, accounts.encodeFunctionData('defaultAccount', [cnpj8]))
      if (BigInt(present) !== 0n) return
      await transact(chain, to, accounts.encodeFunctionData('addDefaultAccount', [cnpj8, wallet]))
    },
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

const hasCode = async (chain: MinedEngine, address: string): Promise<boolean> =>
  (await demand(chain, 'eth_getCode', address, 'latest')) !== '0x'

/** Makes the directory, with what it names, unless the chain has it. @returns its interface */
const directoryOf = async (chain: MinedEngine, directory: string, token: string) => {
  const [{ Interface }, { default: artifact }] = await Promise.all([
    import('ethers'),
    import('./contracts/generated/SandboxDirectory.json'),
  ])
  const abi = new Interface(artifact.abi)
  if (await hasCode(chain, directory)) return abi
  await demand(chain, 'hardhat_impersonateAccount', registrar)
  const terms = abi.encodeDeploy([token, centralBank, requestMax])
  await transact(chain, undefined, artifact.bytecode + terms.slice(2), registrar)
  return abi
}

const transact = async (
  chain: MinedEngine,
  to: string | undefined,
  data: string,
  from = centralBank,
): Promise<Receipt> => {
  const call = { from, ...(to === undefined ? {} : { to }), data }
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
