/** Bodies that the document shows. Addresses have the form that is asked for: it knows no wallets. */

export const exampleTransfer = {
  from_wallet: '0x1111111111111111111111111111111111111111',
  to_wallet: '0x2222222222222222222222222222222222222222',
  amount: '1.50',
  reference: 'invoice 4711',
}

export const exampleAsset = {
  template: 'tokenized_asset',
  params: {
    name: 'Coffee harvest 2026',
    symbol: 'CAFE26',
    total_supply: '1000',
    decimals: 2,
    owner: '0x1111111111111111111111111111111111111111',
  },
}
export const exampleRegistration = {
  address: '0x3333333333333333333333333333333333333333',
  abi: [
    {
      type: 'function',
      name: 'transfer',
      stateMutability: 'nonpayable',
      inputs: [
        { name: 'to', type: 'address' },
        { name: 'amount', type: 'uint256' },
      ],
      outputs: [{ name: '', type: 'bool' }],
    },
    {
      type: 'event',
      name: 'Transfer',
      inputs: [
        { name: 'from', type: 'address', indexed: true },
        { name: 'to', type: 'address', indexed: true },
        { name: 'value', type: 'uint256', indexed: false },
      ],
    },
  ],
}
export const exampleCall = {
  function: 'transfer',
  params: { to: '0x2222222222222222222222222222222222222222', amount: '100' },
  signer_wallet: '0x1111111111111111111111111111111111111111',
}
