import { type CentralBankOptions, createCentralBank } from '#src/simulators/central-bank/index.ts'
import { answerCpu } from './answer-cpu.ts'

type Given = CentralBankOptions & {
  /** Payments to this participant that wait when the bank opens. */
  readonly waiting?: { readonly to: string; readonly count: number }
}

/** The simulated central bank in a process of its own. */
const { waiting, ...options } = JSON.parse(process.argv[2] ?? '{}') as Given
const bank = await createCentralBank(options)
for (let count = 0; count < (waiting?.count ?? 0); count++) {
  bank.payIn({ to: waiting?.to ?? '', amountCents: 1_000n })
}
// Other threads sign these first, so that this is not part of the gateway's time.
while (bank.statistics().sent < (waiting?.count ?? 0)) await Bun.sleep(20)
answerCpu(bank.url)
