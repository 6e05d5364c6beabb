-- expand
DROP INDEX "drex_transfers_to_step";