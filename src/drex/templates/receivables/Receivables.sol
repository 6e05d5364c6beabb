// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from '@openzeppelin/contracts/token/ERC20/IERC20.sol';
import {IERC20Metadata} from '@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol';
import {ERC20} from '@openzeppelin/contracts/token/ERC20/ERC20.sol';
import {SafeERC20} from '@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol';
import {ReentrancyGuard} from '@openzeppelin/contracts/utils/ReentrancyGuard.sol';
import {Math} from '@openzeppelin/contracts/utils/math/Math.sol';

/// @title One receivable (duplicata), sold in units of one cent of its face value.
/// @notice Issued -> Accepted -> Funded -> Settled, or Funded -> Overdue -> Settled | Defaulted,
/// -> Settled, or Issued | Accepted (nothing sold) -> Cancelled. Holders redeem once the outcome
/// is known, and again whenever a debtor in default pays more. Every unit has the same share of
/// all that was ever paid, whoever redeemed when; rounding goes down until all is paid.
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
    /// Fractions of a cent that a unit's share is counted in.
    uint256 private constant SCALE = 1e18;

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
    uint8 private immutable _decimals;
    string public registrar;
    string public registrarId;

    Status public status;
    /// What has been paid in settlement so far.
    uint256 public settledAmount;
    /// What is left here for holders to redeem.
    uint256 public pool;
    /// What a holder was paid.
    mapping(address holder => uint256) public redeemed;
    /// Shares of units that came or went after a payment, in SCALE-ths: what they earned before.
    mapping(address holder => int256) private _correction;

    event Accepted(address indexed payer);
    event UnitsSold(address indexed investor, uint256 units, uint256 price);
    event Funded(uint256 unitsSold, uint256 unitsRetained);
    event SettlementReceived(address indexed from, uint256 amount, uint256 settledAmount);
    event Settled();
    event MarkedOverdue();
    event Defaulted(uint256 recovered);
    event Cancelled();
    event Redeemed(address indexed holder, uint256 units, uint256 paid);
    event Recovered(address indexed token, address indexed to, uint256 amount);

    error InvalidTerms(string field);
    error NotAllowed(address caller);
    error WrongStatus(Status status);
    error AmountOutOfRange(uint256 amount, uint256 largest);
    error TooEarly(uint64 notBefore);
    error TooLate(uint64 notAfter);
    error NothingToRedeem(address holder);
    error NothingToRecover(address token);
    error UnitsToTheirOwnContract();
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
        _decimals = IERC20Metadata(address(terms.paymentToken)).decimals();
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

    /// @notice A unit is the payment token's smallest one.
    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    /// @notice Price of some units at the discount, rounded up to the cent.
    function priceOf(uint256 units) public view returns (uint256) {
        return Math.mulDiv(units, BPS - discountBps, BPS, Math.Rounding.Ceil);
    }

    /// @notice Units nobody has bought yet.
    function unitsForSale() public view returns (uint256) {
        return status == Status.Accepted ? faceValue - totalSupply() : 0;
    }

    /// @notice What a holder would be paid if the outcome were known now.
    function redeemable(address holder) public view returns (uint256) {
        int256 share = int256(balanceOf(holder) * _perUnit()) + _correction[holder];
        return uint256(share) / SCALE - redeemed[holder];
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

    /// @notice Pays part or all of the face value, also after a default.
    function settle(uint256 amount) external nonReentrant {
        if (!_isPayable()) revert WrongStatus(status);
        if (_msgSender() != payer && !(recourse && _msgSender() == originator)) {
            revert NotAllowed(_msgSender());
        }
        uint256 left = faceValue - settledAmount;
        if (amount == 0 || amount > left) revert AmountOutOfRange(amount, left);
        _settled(amount);
        _pull(_msgSender(), address(this), amount);
    }

    /// @notice Counts currency that came by plain transfer as payment. Anyone may ask for it.
    function absorb() external nonReentrant {
        if (!_isPayable()) revert WrongStatus(status);
        uint256 surplus = paymentToken.balanceOf(address(this)) - pool;
        if (surplus == 0) revert NothingToRecover(address(paymentToken));
        _settled(Math.min(surplus, faceValue - settledAmount));
    }

    /// @notice Gives away what came by plain transfer and is no payment: what is beyond the face
    /// value to the payer, what came before the debt was sold and any other token to the
    /// originator. Anyone may ask for it.
    function recover(IERC20 other) external nonReentrant returns (uint256 surplus) {
        surplus = other.balanceOf(address(this));
        address to = originator;
        if (address(other) == address(paymentToken)) {
            if (_isPayable()) revert WrongStatus(status);
            surplus -= pool;
            if (status == Status.Settled) to = payer;
        }
        if (surplus == 0) revert NothingToRecover(address(other));
        other.safeTransfer(to, surplus);
        emit Recovered(address(other), to, surplus);
    }

    function markOverdue() external inStatus(Status.Funded) {
        if (block.timestamp < dueDate) revert TooEarly(dueDate);
        status = Status.Overdue;
        emit MarkedOverdue();
    }

    /// @notice After the days of grace holders share what was paid; later payments are shared alike.
    function markDefaulted() external inStatus(Status.Overdue) {
        uint64 end = dueDate + uint64(graceDays) * 1 days;
        if (block.timestamp < end) revert TooEarly(end);
        status = Status.Defaulted;
        emit Defaulted(settledAmount);
    }

    /// @notice Pays the caller's share of what was settled. Units are burned once all is paid;
    /// until then they keep their share of what may still come.
    function redeem() external nonReentrant returns (uint256 paid) {
        if (status != Status.Settled && status != Status.Defaulted) revert WrongStatus(status);
        address holder = _msgSender();
        uint256 held = balanceOf(holder);
        paid = redeemable(holder);
        bool isFinal = status == Status.Settled;
        if (paid == 0 && !(isFinal && held != 0)) revert NothingToRedeem(holder);
        redeemed[holder] += paid;
        if (isFinal) _burn(holder, held);
        pool -= paid;
        // What rounding left belongs to the last.
        if (isFinal && totalSupply() == 0) {
            paid += pool;
            pool = 0;
        }
        emit Redeemed(holder, held, paid);
        if (paid != 0) paymentToken.safeTransfer(holder, paid);
    }

    function _isPayable() private view returns (bool) {
        return status == Status.Funded || status == Status.Overdue || status == Status.Defaulted;
    }

    function _settled(uint256 amount) private {
        settledAmount += amount;
        pool += amount;
        emit SettlementReceived(_msgSender(), amount, settledAmount);
        if (settledAmount == faceValue) {
            status = Status.Settled;
            emit Settled();
        }
    }

    /// What each unit has earned so far, in SCALE-ths of a cent: SCALE once all is paid.
    function _perUnit() private view returns (uint256) {
        return Math.mulDiv(settledAmount, SCALE, faceValue);
    }

    /// What a unit earned before it changed hands stays with whoever held it.
    function _update(address from, address to, uint256 value) internal override {
        if (to == address(this)) revert UnitsToTheirOwnContract();
        int256 earned = int256(value * _perUnit());
        _correction[from] += earned;
        _correction[to] -= earned;
        super._update(from, to, value);
    }

    function _pull(address from, address to, uint256 amount) private {
        uint256 before = paymentToken.balanceOf(to);
        paymentToken.safeTransferFrom(from, to, amount);
        uint256 received = paymentToken.balanceOf(to) - before;
        // A self-transfer leaves the balance as it was: the originator may fund its own paper.
        if (from != to && received != amount) revert UnexpectedAmountReceived(received, amount);
    }
}
