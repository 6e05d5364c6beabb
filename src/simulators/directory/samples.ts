import type { EntryBody } from './control.ts'
import type { Directory } from './index.ts'

/** The keys of clients of the institution that accepts every payment in the simulated central bank. */
const samples = [
  { key_type: 'EMAIL', key: 'joao@example.com', name: 'João Lima', tax_id: '98765432100' },
  { key_type: 'PHONE', key: '+5561988880000', name: 'João Lima', tax_id: '98765432100' },
  {
    key_type: 'CNPJ',
    key: '11222333000181',
    name: 'Padaria Três Irmãos Ltda',
    trade_name: 'Padaria 3 Irmãos',
    tax_id: '11222333000181',
  },
] as const satisfies readonly Partial<EntryBody>[]
const acceptingIspb = '99999A04'

/** Puts keys in that may be paid. @returns them */
export const registerSamples = (directory: Directory): readonly string[] =>
  samples.map((sample) =>
    directory.register({
      ...sample,
      on_claim: 'confirm',
      ispb: acceptingIspb,
      branch: '0001',
      account: '600200',
      account_type: 'CACC',
    }),
  )
