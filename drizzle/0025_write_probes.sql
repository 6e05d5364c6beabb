CREATE TABLE "write_probes" (
	"filler" "bytea" NOT NULL
);
