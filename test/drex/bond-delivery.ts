/** Bonds on a chain, and a contract that delivers them against payment. */
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import deliveryArtifact from '../../src/drex/templates/bond-delivery/generated/BondDelivery.json'
import bondArtifact from '../../src/drex/templates/tokenized-bond/generated/TokenizedBond.json'
import { type Admin, adminAddress } from './support.ts'

export const bondAbi = new Interface(bondArtifact.abi)
export const deliveryAbi = new Interface(deliveryArtifact.abi)
/** The one bond that there is, as requests and as contracts name it. */
export const ltn = { acronym: 'LTN', code: '100000', maturity_date: '2100-01-01' }
export const ltnTuple = ['LTN', '100000', 4_102_444_800n]

const deploy = async (
  admin: Admin,
  { bytecode }: { readonly bytecode: string },
  abi: Interface,
  args: readonly unknown[],
): Promise<Hex> => (await admin.send(undefined, bytecode + abi.encodeDeploy(args).slice(2)))!

export const deployDelivery = (admin: Admin, money: Hex, bond: Hex): Promise<Hex> =>
  deploy(admin, deliveryArtifact, deliveryAbi, [money, bond])

/** @param holders are admitted; the first has bonds */
export const deployBond = async (admin: Admin, holders: readonly Hex[]): Promise<Hex> => {
  const bond = await deploy(admin, bondArtifact, bondAbi, [adminAddress, ''])
  const send = (name: string, ...args: readonly unknown[]) =>
    admin.send(bond, bondAbi.encodeFunctionData(name, args))
  await send('createTPFt', ltnTuple)
  for (const each of holders) await send('enableAddress', each)
  await send('mint(address,uint256,uint256)', holders[0], 1n, 100_000n)
  return bond
}
