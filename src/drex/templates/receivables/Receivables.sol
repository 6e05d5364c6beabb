// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from '@openzeppelin/contracts/token/ERC20/IERC20.sol';
import {ERC20} from '@openzeppelin/contracts/token/ERC20/ERC20.sol';
import {SafeERC20} from '@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol';
import {ReentrancyGuard} from '@openzeppelin/contracts/utils/ReentrancyGuard.sol';
import {Math} from '@openzeppelin/contracts/utils/math/Math.sol';

/// @title One receivable (duplicata), sold in units of one cent of its face value.
/// @notice Issued -> Accepted -> Funded -> Settled, or Funded -> Overdue -> Settled | Defaulted,
/// or Issued | Accepted (nothing sold) -> Cancelled. Holders redeem only once the outcome is
/// known; rounding goes down and the last holder to redeem takes the remainder.
contract Receivables is ERC20, ReentrancyGuard {
    using SafeERC20 for IERC20;

    enum Status {
        Issued,
        Accepted,
        Funded,
        Overdue,
        Settled,
        Defaulted,
        Cancelled
    }

    struct Terms {
        string name;
        string symbol;
        /// Sacador (cedente): sells the units and receives their price.
        address originator;
        /// Sacado: accepts the debt and settles it.
        address payer;
        /// Hash of the debtor's CNPJ; the number itself never goes on chain.
        bytes32 debtorRef;
        /// Face value in the payment token's smallest unit (cents).
        uint256 faceValue;
        uint64 issueDate;
        uint64 dueDate;
        uint16 discountBps;
        uint16 graceDays;
        /// With recourse the originator may settle in the payer's place.
        bool recourse;
        IERC20 paymentToken;
        bytes32 documentHash;
        string registrar;
        string registrarId;
    }

    uint256 private constant BPS = 10_000;

    address public immutable originator;
    address public immutable payer;
    bytes32 public immutable debtorRef;
    uint256 public immutable faceValue;
    uint64 public immutable issueDate;
    uint64 public immutable dueDate;
    uint16 public immutable discountBps;
    uint16 public immutable graceDays;
    bool public immutable recourse;
    IERC20 public immutable paymentToken;
    bytes32 public immutable documentHash;
    string public registrar;
    string public registrarId;

    Status public status;
    /// What has been paid in settlement so far.
    uint256 public settledAmount;
    /// What is left here for holders to redeem.
    uint256 public pool;

    event Accepted(address indexed payer);
    event UnitsSold(address indexed investor, uint256 units, uint256 price);
    event Funded(uint256 unitsSold, uint256 unitsRetained);
    event SettlementReceived(address indexed from, uint256 amount, uint256 settledAmount);
    event Settled();
    event MarkedOverdue();
    event Defaulted(uint256 recovered);
    event Cancelled();
    event Redeemed(address indexed holder, uint256 units, uint256 paid);

    error InvalidTerms(string field);
    error NotAllowed(address caller);
    error WrongStatus(Status status);
    error AmountOutOfRange(uint256 amount, uint256 largest);
    error TooEarly(uint64 notBefore);
    error TooLate(uint64 notAfter);
    error UnexpectedAmountReceived(uint256 received, uint256 expected);

    constructor(Terms memory terms) ERC20(terms.name, terms.symbol) {
        if (terms.originator == address(0)) revert InvalidTerms('originator');
        if (terms.payer == address(0) || terms.payer == terms.originator) revert InvalidTerms('payer');
        if (terms.faceValue == 0) revert InvalidTerms('faceValue');
        if (terms.dueDate <= terms.issueDate || terms.dueDate <= block.timestamp) {
            revert InvalidTerms('dueDate');
        }
        if (terms.discountBps >= BPS) revert InvalidTerms('discountBps');
        if (address(terms.paymentToken).code.length == 0) revert InvalidTerms('paymentToken');
        originator = terms.originator;
        payer = terms.payer;
        debtorRef = terms.debtorRef;
        faceValue = terms.faceValue;
        issueDate = terms.issueDate;
        dueDate = terms.dueDate;
        discountBps = terms.discountBps;
        graceDays = terms.graceDays;
        recourse = terms.recourse;
        paymentToken = terms.paymentToken;
        documentHash = terms.documentHash;
        registrar = terms.registrar;
        registrarId = terms.registrarId;
    }

    modifier only(address allowed) {
        if (_msgSender() != allowed) revert NotAllowed(_msgSender());
        _;
    }

    modifier inStatus(Status expected) {
        if (status != expected) revert WrongStatus(status);
        _;
    }

    function decimals() public pure override returns (uint8) {
        return 2;
    }

    /// @notice Price of some units at the discount, rounded up to the cent.
    function priceOf(uint256 units) public view returns (uint256) {
        return Math.mulDiv(units, BPS - discountBps, BPS, Math.Rounding.Ceil);
    }

    /// @notice Units nobody has bought yet.
    function unitsForSale() public view returns (uint256) {
        return status == Status.Accepted ? faceValue - totalSupply() : 0;
    }

    /// @notice What `units` would pay if redeemed now.
    function redeemable(uint256 units) public view returns (uint256) {
        uint256 supply = totalSupply();
        return supply == 0 ? 0 : Math.mulDiv(units, pool, supply);
    }

    /// @notice Aceite: the debtor acknowledges the debt.
    function accept() external only(payer) inStatus(Status.Issued) {
        status = Status.Accepted;
        emit Accepted(_msgSender());
    }

    /// @notice Buys units at the discount; the price goes to the originator.
    function fund(uint256 units) external nonReentrant inStatus(Status.Accepted) {
        if (block.timestamp >= dueDate) revert TooLate(dueDate);
        uint256 left = faceValue - totalSupply();
        if (units == 0 || units > left) revert AmountOutOfRange(units, left);
        uint256 price = priceOf(units);
        _mint(_msgSender(), units);
        emit UnitsSold(_msgSender(), units, price);
        if (units == left) {
            status = Status.Funded;
            emit Funded(faceValue, 0);
        }
        _pull(_msgSender(), originator, price);
    }

    /// @notice Ends the sale; what was not sold belongs to the originator. Anyone may do so once
    /// the due date has passed, so that the units already sold can always reach an outcome.
    function closeFunding() external inStatus(Status.Accepted) {
        if (_msgSender() != originator && block.timestamp < dueDate) revert NotAllowed(_msgSender());
        uint256 retained = faceValue - totalSupply();
        status = Status.Funded;
        _mint(originator, retained);
        emit Funded(faceValue - retained, retained);
    }

    /// @notice Withdraws a receivable of which nothing has been sold.
    function cancel() external only(originator) {
        bool unsold = status == Status.Issued || (status == Status.Accepted && totalSupply() == 0);
        if (!unsold) revert WrongStatus(status);
        status = Status.Cancelled;
        emit Cancelled();
    }

    /// @notice Pays part or all of the face value.
    function settle(uint256 amount) external nonReentrant {
        if (status != Status.Funded && status != Status.Overdue) revert WrongStatus(status);
        if (_msgSender() != payer && !(recourse && _msgSender() == originator)) {
            revert NotAllowed(_msgSender());
        }
        uint256 left = faceValue - settledAmount;
        if (amount == 0 || amount > left) revert AmountOutOfRange(amount, left);
        settledAmount += amount;
        pool += amount;
        emit SettlementReceived(_msgSender(), amount, settledAmount);
        if (amount == left) {
            status = Status.Settled;
            emit Settled();
        }
        _pull(_msgSender(), address(this), amount);
    }

    function markOverdue() external inStatus(Status.Funded) {
        if (block.timestamp < dueDate) revert TooEarly(dueDate);
        status = Status.Overdue;
        emit MarkedOverdue();
    }

    /// @notice After the days of grace what was paid is all that holders will share.
    function markDefaulted() external inStatus(Status.Overdue) {
        uint64 end = dueDate + uint64(graceDays) * 1 days;
        if (block.timestamp < end) revert TooEarly(end);
        status = Status.Defaulted;
        emit Defaulted(settledAmount);
    }

    /// @notice Burns units for their share of what was settled.
    function redeem(uint256 units) external nonReentrant {
        if (status != Status.Settled && status != Status.Defaulted) revert WrongStatus(status);
        uint256 held = balanceOf(_msgSender());
        if (units == 0 || units > held) revert AmountOutOfRange(units, held);
        uint256 paid = redeemable(units);
        pool -= paid;
        _burn(_msgSender(), units);
        emit Redeemed(_msgSender(), units, paid);
        if (paid != 0) paymentToken.safeTransfer(_msgSender(), paid);
    }

    function _pull(address from, address to, uint256 amount) private {
        uint256 before = paymentToken.balanceOf(to);
        paymentToken.safeTransferFrom(from, to, amount);
        uint256 received = paymentToken.balanceOf(to) - before;
        // A self-transfer leaves the balance as it was: the originator may fund its own paper.
        if (from != to && received != amount) revert UnexpectedAmountReceived(received, amount);
    }
}
